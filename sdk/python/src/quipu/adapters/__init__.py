"""Quipu under the libraries that agents are written with. Each adapter is an extra of its own: `quipu[langgraph]`,
`quipu[openai-agents]`, `quipu[openai]`, `quipu[anthropic]`. Importing `quipu` imports none of them."""
