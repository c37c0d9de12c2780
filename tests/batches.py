"""Many cases as one test: recorded exchanges, vectors, rows of a table.

`each` takes what `pytest.mark.parametrize` takes, and makes one test of all its cases. A test costs
more than most of its cases do, so a table of hundreds is one test. Every case is run, whatever
happens to the others. The report names each one that failed, and why. `pytest --case TEXT` runs
only the cases whose name contains the text.

The cases may also be a function that returns them. It is called when the test runs, so that nothing
is loaded for a test that is not run, and is given the fixtures and parameters that it names. All
cases of a test see the same fixtures.

Below `given`, each example is run with all cases. To generate a conversation costs more than to
render it, so a law for every target generates it once.

`pytest.xfail` in a case is an expected failure of this case, `pytest.skip` leaves it out. Both are
counted. The summary of a run prints how many cases, called checks, were run in how many tests.
With `counted=True` it also prints how many cases passed for each value of that argument.
"""

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import product
from typing import Any, NamedTuple

import pytest

CHECKS, EXPECTED, LEFT_OUT = "checks", "expected failures", "left out"
FIGURES = "figures"
"""What a batch says of itself in the properties of its report."""
_LINES = 6
"""As many lines of an error are shown for each case. The first error is shown with its traceback."""


class _Axis(NamedTuple):
    """One `each`: the names of its arguments, and its cases."""

    names: list[str]
    cases: Iterable[Any] | Callable[..., Iterable[Any]]
    ids: Iterable[str] | Callable[[Any], Any] | None
    least: int
    counted: bool = False

    def named(self, fixtures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The name and the arguments of every case."""
        cases = self.cases
        if callable(cases):
            asked = inspect.signature(cases).parameters
            cases = cases(**{name: fixtures[name] for name in asked if name in fixtures})
        cases = list(cases)
        if len(cases) < self.least:
            pytest.fail(f"there are only {len(cases)} cases; {self.least} at least are expected")
        ids = None if self.ids is None or callable(self.ids) else list(self.ids)
        for at, case in enumerate(cases):
            given = case if isinstance(case, type(pytest.param())) else None
            if given and given.marks:
                raise TypeError(f"a case of a batch has no marks of its own: {case}")
            values = given.values if given else (case,) if len(self.names) == 1 else tuple(case)
            id = given.id if given else ids[at] if ids else None
            yield id or self._name(at, values), dict(zip(self.names, values, strict=True))

    def _name(self, at: int, values: Iterable[Any]) -> str:
        if "id" in self.names and self.ids is None:
            return str(dict(zip(self.names, values, strict=True))["id"])
        made = self.ids if callable(self.ids) else _name_of
        said = (made(value) for value in values)
        return "-".join(
            f"{name}{at}" if id is None else str(id)
            for name, id in zip(self.names, said, strict=True)
        )


class _Figures:
    """How many cases passed, for each value of the arguments that are counted."""

    def __init__(self, axes: list[_Axis]) -> None:
        self._names = [name for axis in axes if axis.counted for name in axis.names]
        self._run, self._passed = Counter[str](), Counter[str]()

    def passed(self, values: dict[str, Any]) -> None:
        self._passed.update(str(values[name]) for name in self._names)
        self.failed(values)

    def failed(self, values: dict[str, Any]) -> None:
        self._run.update(str(values[name]) for name in self._names)

    def properties(self, test: str, left_out: int) -> dict[str, list[str]]:
        """The lines for the summary; none where nothing is counted."""
        if not self._names:
            return {}
        run, passed = self._run.total(), self._passed.total()
        cells = f"{run + left_out:,} cells, {passed:,} passed, {run - passed:,} failed"
        lines = [f"  {name}: {self._passed[name]} of {of} passed" for name, of in self._run.items()]
        return {FIGURES: [f"{test}: {cells}, {left_out:,} left out", *lines]}


class _Batch:
    """The cases of one test, and what became of them."""

    def __init__(self, test: Callable[..., Any], axes: list[_Axis]) -> None:
        self.test = test
        self.axes = axes

    def run(self, request: pytest.FixtureRequest, fixtures: dict[str, Any]) -> None:
        __tracebackhide__ = True
        wanted = request.config.getoption("case")
        failed: list[tuple[str, BaseException]] = []
        expected, left_out = Counter[str](), Counter[str]()
        checks = 0
        figures = _Figures(self.axes)
        for name, values in self.cases(fixtures):
            if wanted not in name:
                continue
            checks += 1
            try:
                self.run_one({**fixtures, **values})
                figures.passed(values)
            except pytest.skip.Exception as why:
                left_out[str(why)] += 1
            except pytest.xfail.Exception as why:
                expected[str(why)] += 1
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  the others still run
                failed.append((name, error))
                figures.failed(values)
        checks -= left_out.total()
        said = {CHECKS: checks, EXPECTED: expected.total(), LEFT_OUT: dict(left_out)}
        said |= figures.properties(request.node.name, left_out.total())
        request.node.user_properties[:] = (dict(request.node.user_properties) | said).items()
        if failed:
            raise AssertionError(_report(failed, checks)) from failed[0][1]
        if not checks:
            pytest.skip("; ".join(left_out) or f"no case has {wanted!r} in its name")

    def cases(self, fixtures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        axes = [list(axis.named(fixtures)) for axis in self.axes]
        for chosen in product(*axes):
            name = "-".join(name for name, _ in chosen)
            yield name, {key: value for _, values in chosen for key, value in values.items()}

    def run_one(self, arguments: dict[str, Any]) -> None:
        done = self.test(**arguments)
        if inspect.iscoroutine(done):
            asyncio.run(done)


def each(
    names: str | Iterable[str],
    cases: Any,
    ids: Any = None,
    *,
    least: int = 1,
    counted: bool = False,
) -> Callable[..., Any]:
    """One test of all cases; several of them on a test run every combination.

    Fewer cases than `least` fail it: then the data is not what it should be. `counted`: the summary
    says how many passed for each of them.
    """
    split = names.split(",") if isinstance(names, str) else names
    axis = _Axis([name.strip() for name in split], cases, ids, least, counted)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        inner = getattr(test, "batch", None)
        return _test_of(_Batch(inner.test, [axis, *inner.axes]) if inner else _Batch(test, [axis]))

    return decorate


def sampled(cases: Iterable[Any], *, every: int) -> list[Any]:
    """Cases for `parametrize`, of which every n-th is in each run and the others are deep."""
    deep = pytest.mark.deep
    return [
        case if at % every == 0 else pytest.param(case, marks=deep) for at, case in enumerate(cases)
    ]


def _test_of(batch: _Batch) -> Callable[..., Any]:
    taken = {name for axis in batch.axes for name in axis.names}
    signature = inspect.signature(batch.test)
    kept = [one for one in signature.parameters.values() if one.name not in taken]
    asks = "request" in [one.name for one in kept]
    if not asks:
        kept.insert(0, inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD))
    shown = signature.replace(parameters=kept)

    @wraps(batch.test)
    def run(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        fixtures = shown.bind(*args, **kwargs).arguments
        batch.run(fixtures["request"] if asks else fixtures.pop("request"), fixtures)

    run.__signature__ = shown  # type: ignore[attr-defined]
    run.batch = batch  # type: ignore[attr-defined]
    return run


def _name_of(value: Any) -> str | None:
    """What a case is called by; None where nothing in it is a name."""
    if isinstance(value, str | int | float | None):
        return str(value)[:60]
    if isinstance(value, dict):
        value = value.get("id")
    else:
        named = (getattr(value, name, None) for name in ("__name__", "id", "name"))
        value = next((one for one in named if isinstance(one, str)), None)
    return value if isinstance(value, str) else None


def _report(failed: list[tuple[str, BaseException]], checks: int) -> str:
    cases = "\n".join(f"{name}: {_why(error)}" for name, error in failed)
    return f"{len(failed)} of {checks} cases failed; above is the first of them.\n{cases}"


def _why(error: BaseException) -> str:
    said = str(error) or repr(error)
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    lines = [line for line in said.splitlines() if line.strip()]
    more = [f"... {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f" (line {last.tb_lineno} of {last.tb_frame.f_code.co_filename})" if last else ""
    return kind + "\n    ".join([*lines[:_LINES], *more]) + place


def summary(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    """Lines on what was checked in a run: how many cases, and which were left out for what reason."""
    tests = checks = expected = 0
    left_out = Counter[str]()
    figures: list[str] = []
    for report in reports:
        said = dict(report.user_properties)
        figures += said.get(FIGURES, ())
        tests += 1
        checks += said.get(CHECKS, 1)
        expected += said.get(EXPECTED, 0)
        left_out.update(said.get(LEFT_OUT, {}))
    more = f", {expected:,} of them failed as expected" if expected else ""
    yield f"{checks:,} checks in {tests:,} tests{more}"
    yield from (f"{count:,} cases left out: {why}" for why, count in sorted(left_out.items()))
    yield from figures
