"""One module for each trainer, with the function that the trainer wants.

Wherever they take these,

- ``config`` is a path, the text of a configuration, a mapping or an :class:`assay.Engine`; by default
  the path in the variable ``ASSAY_CONFIG``;
- ``settings`` are ``on_fault``, what becomes of a sample without a reward; ``max_fault_rate``, the most
  faults among the last 1,000 samples of a process, 0.1 by default; ``timeout``, the seconds that a call
  may take; ``columns``, which columns of the data mean what, as ``[data]`` of the configuration; and
  those of :class:`assay.Engine`.
"""
