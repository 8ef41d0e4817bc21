export type Timed = ReturnType<typeof createStages>

/** Runs the stages of a build and tells how long each took (milliseconds), also when it is awaited. */
export function createStages(onStage: (stage: string, ms: number, files: number) => void) {
  return function timed<Result>(stage: string, work: () => Result, files = 0): Result {
    const start = performance.now()
    const finish = () => onStage(stage, performance.now() - start, files)
    const result = work()
    if (result instanceof Promise) void result.then(finish, () => undefined)
    else finish()
    return result
  }
}
