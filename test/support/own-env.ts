let last: Promise<unknown> = Promise.resolve()

/** Runs it with these variables in this process, one after the other; then they are as they were. */
export function withEnv<Result>(
  env: Readonly<Record<string, string>>,
  run: () => Promise<Result>,
): Promise<Result> {
  const work = async () => {
    const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
    Object.assign(process.env, env)
    try {
      return await run()
    } finally {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    }
  }
  const done = last.then(work)
  last = done.catch(() => undefined)
  return done
}
