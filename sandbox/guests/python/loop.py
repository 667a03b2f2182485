"""An event loop without sockets: timers on the virtual clock, and nothing else to wait for."""

import asyncio
import time
from asyncio import base_events, events

import threads


class _Timers:
    """In the place of a selector: waiting is sleeping."""

    def select(self, timeout=None):
        if timeout != 0 and threads.run_next():
            return []
        if timeout is None:
            raise RuntimeError("deadlock: the event loop waits for something that never comes")
        if timeout > 0:
            time.sleep(timeout)
        return []

    def close(self):
        pass


class Loop(base_events.BaseEventLoop):
    """Runs tasks and timers."""

    def __init__(self):
        super().__init__()
        self._selector = _Timers()
        self._clock_resolution = 1e-9

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def add_signal_handler(self, sig, callback, *args):
        raise NotImplementedError("there are no signals here")

    def close(self):
        super().close()


class Policy(events._BaseDefaultEventLoopPolicy):
    """Gives every run a loop of its own."""

    _loop_factory = Loop

    def get_event_loop(self):
        """The loop that is set, and a new one where none is: tests were written for that, up to 3.13."""
        if self._local._loop is None:
            self.set_event_loop(self.new_event_loop())
        return super().get_event_loop()


def install():
    """Makes `asyncio.run` and its relations work."""
    events._event_loop_policy = Policy()
    asyncio.SelectorEventLoop = Loop
    asyncio.DefaultEventLoopPolicy = Policy
    asyncio.EventLoop = Loop
