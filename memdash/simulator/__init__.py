"""A Claude Messages API in this process.

Two doors lead to one engine: ``transport.SimulatorTransport`` for the SDK on a virtual clock, ``server.serve`` and
``server.running`` for real HTTP. Nothing is imported here, so that reading a hint does not load a web server.
"""
