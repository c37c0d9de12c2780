"""What a tool yields is progress, but for its result."""

import asyncio

import pytest

from canonicall import Yields, tool


def run(generator):
    yields, progress = Yields(), []
    while True:
        try:
            progress += yields.feed(next(generator))
        except StopIteration as end:
            more, result = yields.close(end.value)
            return progress + more, result


@pytest.mark.parametrize(
    ("values", "returned", "progress", "result"),
    [
        ([1, 2, 3], None, [1, 2], 3),
        ([1, 2], "done", [1, 2], "done"),
        ([], "done", [], "done"),
        ([], None, [], None),
        ([None], None, [], None),
        ([1, None], None, [1], None),
        ([1], 0, [1], 0),
    ],
)
def test_the_value_returned_or_the_last_one_is_the_result(values, returned, progress, result):
    @tool
    def steps():
        yield from values
        return returned

    assert run(steps.call({})) == (progress, result)


def test_an_async_generator_has_its_last_value_for_a_result():
    @tool
    async def steps(count: int):
        for number in range(count):
            yield number

    async def driven():
        yields, progress = Yields(), []
        async for value in steps.call({"count": 3}):
            progress += yields.feed(value)
        more, result = yields.close()
        return progress + more, result

    assert asyncio.run(driven()) == ([0, 1], 2)
