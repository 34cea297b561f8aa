"""What all models have in common."""

from pydantic import BaseModel, ConfigDict


class Open(BaseModel):
    """A model that keeps what it does not know."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, frozen=False)
