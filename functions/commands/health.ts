/** For containers: exits 0 while the server of this environment answers `GET /healthz`, else 1. */
const { PORT = '4321' } = process.env
const answer = await fetch(`http://127.0.0.1:${PORT}/healthz`, {
  signal: AbortSignal.timeout(4_000),
}).catch(() => null)
process.exitCode = answer?.ok === true ? 0 : 1

export {}
