"""Conversations as chat templates are given them: messages by role, and tools to be called."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

ROLES = {
    "plain": ("user", "assistant", "user"),
    "empty": ("user", "nothing", "user"),
    "system": ("system", "user", "assistant", "user"),
    "tools": ("user", "call", "tool", "assistant", "user"),
}
"""The messages of each kind of conversation. ``nothing`` is an empty message of the assistant,
``call`` its call of a tool, and ``tool`` the result."""

WORDS = {
    "plain": "",
    "empty": ", the assistant's empty",
    "system": ", the first of the system",
    "tools": " with tools",
}
"""What is said of the messages of each kind."""

NAME, IDENTIFIER = "look_up", "call00001"
"""Of the tool, and of its call: nine letters and digits, as Mistral's templates want it."""


def message(role: str, content: str) -> Json:
    """A message as OpenAI's API has it, but for the arguments of calls, which are no string: chat
    templates are given an object.
    """
    if role == "nothing":
        return {"role": "assistant", "content": ""}
    if role == "call":
        function = {"name": NAME, "arguments": {"query": content}}
        call = {"id": IDENTIFIER, "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [call]}
    named = {"name": NAME, "tool_call_id": IDENTIFIER} if role == "tool" else {}
    return {"role": role, "content": content, **named}


def conversation(kind: str, turns: int, content: str) -> tuple[list[Json], list[Json]]:
    """The first messages of a kind of conversation, each with this content, and the tools."""
    messages = [message(role, content) for role in ROLES[kind][:turns]]
    if kind != "tools":
        return messages, []
    query = {"query": {"type": "string", "description": content}}
    parameters = {"type": "object", "properties": query, "required": ["query"]}
    function = {"name": NAME, "description": content, "parameters": parameters}
    return messages, [{"type": "function", "function": function}]
