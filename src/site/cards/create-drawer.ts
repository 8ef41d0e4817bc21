import { Worker } from 'node:worker_threads'

/** A card takes a tenth of a second; one that takes this long never ends (milliseconds). */
const MOST_TIME = 10_000
const PROGRAM = new URL('./draw-worker.ts', import.meta.url)

/**
 * Draws one SVG after another in a thread of its own, started on demand.
 *
 * @param mostTime a drawing that takes longer is aborted (milliseconds)
 */
export function createDrawer(mostTime = MOST_TIME) {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  const end = () => {
    void worker?.terminate()
    worker = undefined
  }
  const drawNow = async (svg: string): Promise<Uint8Array> => {
    worker ??= start()
    try {
      return await ask(worker, svg, mostTime)
    } catch (error) {
      end()
      throw error
    }
  }
  return {
    /** @returns the PNG. @throws when the drawing fails or takes too long; the next one starts afresh */
    draw(svg: string): Promise<Uint8Array> {
      const drawn = last.then(() => drawNow(svg))
      last = drawn.catch(() => undefined)
      return drawn
    },
    /** Lets the thread end; the next drawing starts another. */
    rest: end,
  }
}

function start(): Worker {
  const worker = new Worker(PROGRAM)
  // A drawing nobody waits for keeps no process alive.
  worker.unref()
  return worker
}

function ask(worker: Worker, svg: string, mostTime: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const timer = setTimeout(
    () => reject(new Error(`the drawing took more than ${mostTime} ms`)),
    mostTime,
  )
  const onExit = (code: number) => reject(new Error(`the drawing thread ended with ${code}`))
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', onExit)
  worker.ref()
  worker.postMessage(svg)
  return promise.finally(() => {
    clearTimeout(timer)
    // Not all of them: the worker's own listeners keep its port open.
    worker.off('message', resolve).off('error', reject).off('exit', onExit)
    worker.unref()
  })
}
