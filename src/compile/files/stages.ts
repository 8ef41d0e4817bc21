/** Called when a stage ends: its name, its duration (ms), and the files written so far. */
export type OnStage = (stage: string, ms: number, files: number) => void

/** Runs a stage and reports how long it took. */
export type Timed = <Result>(stage: string, work: () => Result, files?: number) => Result

export function createStages(onStage: OnStage): Timed {
  return function timed(stage, work, files = 0) {
    const start = performance.now()
    const finish = () => onStage(stage, performance.now() - start, files)
    const result = work()
    if (result instanceof Promise) void result.then(finish, () => undefined)
    else finish()
    return result
  }
}
