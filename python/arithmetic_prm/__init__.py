"""A process model of arithmetic: trained in minutes on a CPU, for the demo and the docs."""
