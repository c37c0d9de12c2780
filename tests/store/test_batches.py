"""What a writer's thread is given at a time."""

from canonicall.store.batches import Waiting


def test_things_come_in_order_and_never_too_many_at_once():
    waiting = Waiting(most_at_once=3)
    for number in range(7):
        waiting.put(number)
    waiting.end()
    assert list(waiting.batches()) == [[0, 1, 2], [3, 4, 5], [6]]


def test_the_end_right_behind_a_full_batch_ends_it():
    waiting = Waiting(most_at_once=2)
    waiting.put("a")
    waiting.put("b")
    waiting.end()
    assert list(waiting.batches()) == [["a", "b"]]


def test_nothing_behind_the_end_is_done():
    waiting = Waiting(most_at_once=5)
    waiting.put("before")
    waiting.end()
    waiting.put("behind")
    assert list(waiting.batches()) == [["before"]]
