"""`@recorded`: a function whose calls are recorded Tasks, named after it and given its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ._around import open_replay
from ._exact import exact, restored
from ._typed import Arguments
from .field import AsyncField, Field
from .run import AsyncRun, Run, current_run

P = ParamSpec("P")
T = TypeVar("T")


@functools.cache
def _shared() -> Field:
    return Field()


class _Named:
    def __init__(self, function: Callable[..., Any]) -> None:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} is a generator: its result would be recorded before it has one")
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.name = f"{function.__module__}.{function.__qualname__}"
        # The first parameter is the run.
        whole = inspect.signature(function)
        self._signature = whole.replace(parameters=list(whole.parameters.values())[1:])
        self._typed = Arguments(function)

    def _input(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        said = {"text": self.name, "function": self.name, "arguments": exact(given)}
        types = self._typed.types_of(given)
        return {**said, "types": types} if types else said

    def arguments_of(self, input: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that a Task of this function was submitted with, positional and by name."""
        given = input.get("arguments") if isinstance(input, dict) else None
        if not isinstance(given, dict) or input.get("function") != self.name:
            raise ValueError(f"the task was not recorded by {self.name}")
        plain = restored(given)
        bound = inspect.BoundArguments(self._signature, self._typed.read(plain, input.get("types")))
        return bound.args, bound.kwargs

    def _see_that_in_a_run(self) -> None:
        replay = open_replay()
        if replay is not None:
            # It may be a part of the replay, and would call what the replay promised not to call.
            raise RuntimeError(
                f"{self.name} was called outside of any run while {replay.id} is replayed: "
                "call it in the run's block, in a thread that is started there, or by `run.carry`"
            )


class RecordedFunction(_Named, Generic[P, T]):
    """A function whose calls are recorded."""

    def __init__(
        self, function: Callable[Concatenate[Run, P], T], field: Field | None, options: dict[str, Any]
    ) -> None:
        super().__init__(function)
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{self.name} is async and needs an AsyncField: @recorded(field)")
        self._function = function
        self._given = field
        self._options = options

    @property
    def _field(self) -> Field:
        return self._given or _shared()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls it in a Task of its own, or within the run that is going on."""
        around = current_run()
        if isinstance(around, AsyncRun):
            raise TypeError(f"{self.name} blocks and the run around it awaits: it needs an AsyncField too")
        if around is not None:
            return self._function(around, *args, **kwargs)
        self._see_that_in_a_run()
        result: T = self.run(*args, **kwargs).result
        return result

    def run(self, *args: P.args, **kwargs: P.kwargs) -> Run:
        """Calls it in a Task of its own; the run that has ended has `id` and `result`."""
        with self._field.task(self.name, input=self._input(args, kwargs), **self._options) as run:
            run.result = self._function(run, *args, **kwargs)
        return run

    def resume(self, task_id: str, *, wait: float = 0.0) -> Run:
        """Goes on with a Task of this function whose worker was lost, with the arguments that it was given; a replay
        Task is replayed. One that is completed is given back as it is."""
        task = self._field.get_task(task_id)
        args, kwargs = self.arguments_of(task.input)

        def again(run: Run) -> T:
            return self._function(run, *args, **kwargs)

        agent = self._options.get("agent")
        return self._field.run(again, self.name, task=task_id, agent=agent, wait=wait)

    def replay(self, task_id: str, *, overrides: Mapping[str, Any] | None = None, reason: str | None = None) -> Run:
        """Calls it again with the recorded arguments and answers; the run has `result` and `divergence`."""
        task = self._field.replay(task_id, overrides=overrides, reason=reason, agent=self._options.get("agent"))
        args, kwargs = self.arguments_of(task.input)

        def again(run: Run) -> T:
            return self._function(run, *args, **kwargs)

        return self._field.run_replay(task.id, again, agent=self._options.get("agent"))


class AsyncRecordedFunction(_Named, Generic[P, T]):
    """An async function whose calls are recorded."""

    def __init__(
        self,
        function: Callable[Concatenate[AsyncRun, P], Awaitable[T]],
        field: AsyncField,
        options: dict[str, Any],
    ) -> None:
        super().__init__(function)
        self._function = function
        self._field = field
        self._options = options

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls it in a Task of its own, or within the run that is going on."""
        around = current_run()
        if isinstance(around, Run):
            raise TypeError(f"{self.name} awaits and the run around it blocks: it needs a Field too")
        if around is not None:
            return await self._function(around, *args, **kwargs)
        self._see_that_in_a_run()
        result: T = (await self.run(*args, **kwargs)).result
        return result

    async def run(self, *args: P.args, **kwargs: P.kwargs) -> AsyncRun:
        """Calls it in a Task of its own; the run that has ended has `id` and `result`."""
        async with self._field.task(self.name, input=self._input(args, kwargs), **self._options) as run:
            run.result = await self._function(run, *args, **kwargs)
        return run

    async def resume(self, task_id: str, *, wait: float = 0.0) -> AsyncRun:
        """Goes on with a Task of this function whose worker was lost, with the arguments that it was given; a replay
        Task is replayed. One that is completed is given back as it is."""
        task = await self._field.get_task(task_id)
        args, kwargs = self.arguments_of(task.input)

        async def again(run: AsyncRun) -> T:
            return await self._function(run, *args, **kwargs)

        agent = self._options.get("agent")
        return await self._field.run(again, self.name, task=task_id, agent=agent, wait=wait)

    async def replay(
        self, task_id: str, *, overrides: Mapping[str, Any] | None = None, reason: str | None = None
    ) -> AsyncRun:
        """Calls it again with the recorded arguments and answers; the run has `result` and `divergence`."""
        task = await self._field.replay(task_id, overrides=overrides, reason=reason, agent=self._options.get("agent"))
        args, kwargs = self.arguments_of(task.input)

        async def again(run: AsyncRun) -> T:
            return await self._function(run, *args, **kwargs)

        return await self._field.run_replay(task.id, again, agent=self._options.get("agent"))


class _Recorder:
    def __init__(self, field: Field, options: dict[str, Any]) -> None:
        self._field = field
        self._options = options

    def __call__(self, function: Callable[Concatenate[Run, P], T]) -> RecordedFunction[P, T]:
        return RecordedFunction(function, self._field, self._options)


class _AsyncRecorder:
    def __init__(self, field: AsyncField, options: dict[str, Any]) -> None:
        self._field = field
        self._options = options

    def __call__(self, function: Callable[Concatenate[AsyncRun, P], Awaitable[T]]) -> AsyncRecordedFunction[P, T]:
        return AsyncRecordedFunction(function, self._field, self._options)


@overload
def recorded(target: Field, **options: Any) -> _Recorder: ...
@overload
def recorded(target: AsyncField, **options: Any) -> _AsyncRecorder: ...
@overload
def recorded(target: Callable[Concatenate[Run, P], T]) -> RecordedFunction[P, T]: ...


def recorded(target: Any, **options: Any) -> Any:
    """`@recorded(field)`, with the options of `Field.task`; `@recorded` alone takes the Field from the environment.

    The function's first parameter is the run. Called within a run it takes part in that one."""
    if isinstance(target, Field):
        return _Recorder(target, options)
    if isinstance(target, AsyncField):
        return _AsyncRecorder(target, options)
    return RecordedFunction(target, None, options)
