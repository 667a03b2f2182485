// `perf_hooks`: time on the guest's own clock.
(function (host) {
  const start = Date.now() - host.now();
  const marks = new Map();
  const entries = [];
  const note = (name, entryType, startTime, duration) => {
    const entry = { name, entryType, startTime, duration };
    entries.push(entry);
    return entry;
  };
  const performance = {
    timeOrigin: start,
    now: () => host.now(),
    mark(name) {
      marks.set(name, host.now());
      return note(name, 'mark', marks.get(name), 0);
    },
    measure(name, from, to) {
      const begin = marks.get(from) ?? 0;
      return note(name, 'measure', begin, (marks.get(to) ?? host.now()) - begin);
    },
    clearMarks: () => marks.clear(),
    clearMeasures: () => {},
    getEntries: () => [...entries],
    getEntriesByName: (name) => entries.filter((entry) => entry.name === name),
    getEntriesByType: (type) => entries.filter((entry) => entry.entryType === type),
    toJSON: () => ({ timeOrigin: start }),
  };
  class PerformanceObserver {
    observe() {}

    disconnect() {}
  }
  return { performance, PerformanceObserver };
})
