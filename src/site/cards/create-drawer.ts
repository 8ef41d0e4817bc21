import { Worker } from 'node:worker_threads'

/** Draws one SVG after another in a thread of its own, which starts with the first and may rest. */
export interface Drawer {
  /** @returns the PNG. @throws when the drawing fails or takes too long; the next one starts afresh */
  draw(svg: string): Promise<Uint8Array>
  /** Lets the thread end; the next drawing starts another. */
  rest(): void
}

/** A card takes a tenth of a second; one that takes this long never ends (milliseconds). */
const MOST_TIME = 10_000
const PROGRAM = new URL('./draw-worker.ts', import.meta.url)

export function createDrawer(): Drawer {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  const end = () => {
    void worker?.terminate()
    worker = undefined
  }
  const drawNow = async (svg: string): Promise<Uint8Array> => {
    worker ??= start()
    try {
      return await ask(worker, svg)
    } catch (error) {
      end()
      throw error
    }
  }
  return {
    draw(svg) {
      const drawn = last.then(() => drawNow(svg))
      last = drawn.catch(() => undefined)
      return drawn
    },
    rest: end,
  }
}

function start(): Worker {
  const worker = new Worker(PROGRAM)
  // A drawing nobody waits for keeps no process alive.
  worker.unref()
  return worker
}

function ask(worker: Worker, svg: string): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const timer = setTimeout(
    () => reject(new Error(`the drawing took more than ${MOST_TIME} ms`)),
    MOST_TIME,
  )
  const onMessage = (png: Uint8Array) => resolve(png)
  const onExit = (code: number) => reject(new Error(`the drawing thread ended with ${code}`))
  worker.once('message', onMessage)
  worker.once('error', reject)
  worker.once('exit', onExit)
  worker.ref()
  worker.postMessage(svg)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', onMessage)
    worker.off('error', reject)
    worker.off('exit', onExit)
    worker.unref()
  })
}
