import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RELAY_LIMITS } from '../../functions/relay/call-plan.ts'
import { createAnswerClock } from '../../functions/relay/seller-call.ts'

const { idleBodyMs, responseHeadersMs, paidResponseHeadersMs } = RELAY_LIMITS

describe('the clock of a call', () => {
  let over: string[] = []
  beforeEach(() => {
    over = []
    vi.useFakeTimers()
  })
  afterEach(() => vi.useRealTimers())
  const start = (headersMs = responseHeadersMs) =>
    createAnswerClock(RELAY_LIMITS, headersMs, (error) => over.push(error.message))

  test.each([
    ['unpaid', responseHeadersMs],
    ['paid', paidResponseHeadersMs],
  ])('%s: headers are due once, however often they are awaited', (_name, ms) => {
    const clock = start(ms)
    clock.awaitingHeaders()
    vi.advanceTimersByTime(ms - 1)
    clock.awaitingHeaders()
    expect(over).toEqual([])
    vi.advanceTimersByTime(1)
    expect(over).toEqual(['late'])
  })

  test('a body that drips is nobody’s fault, one that falls silent is the seller’s', () => {
    const clock = start()
    clock.awaitingHeaders()
    for (let byte = 0; byte < 100; byte += 1) {
      clock.streaming()
      vi.advanceTimersByTime(idleBodyMs - 1)
    }
    expect(over).toEqual([])
    vi.advanceTimersByTime(1)
    expect(over).toEqual(['late'])
  })

  test.each([
    ['the caller', true, 'stalled'],
    ['the seller', false, 'late'],
  ])('an upload that stops is the fault of %s', (_name, isCallerSlow, error) => {
    const clock = start()
    for (let chunk = 0; chunk < 100; chunk += 1) {
      clock.uploading(() => isCallerSlow)
      vi.advanceTimersByTime(idleBodyMs - 1)
    }
    expect(over).toEqual([])
    vi.advanceTimersByTime(1)
    expect(over).toEqual([error])
  })

  test('while the caller takes nothing nobody is late; then the seller’s time begins anew', () => {
    const clock = start()
    clock.awaitingHeaders()
    clock.streaming()
    clock.waitingForCaller()
    clock.awaitingHeaders()
    vi.advanceTimersByTime(100 * idleBodyMs)
    clock.streaming()
    vi.advanceTimersByTime(idleBodyMs - 1)
    expect(over).toEqual([])
    vi.advanceTimersByTime(1)
    expect(over).toEqual(['late'])
  })

  test('a call that is over is never late', () => {
    const clock = start()
    clock.awaitingHeaders()
    clock.stop()
    vi.advanceTimersByTime(2 * paidResponseHeadersMs)
    expect(over).toEqual([])
  })
})
