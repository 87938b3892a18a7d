import { expect } from 'chai'
import { CancellationSource, NEVER } from '../../shared/transport/cancellation.js'

describe('CancellationSource', () => {
  const reason = new Error('over')

  it('calls each listener once, with the reason set, and not those that were taken out', () => {
    const source = new CancellationSource()
    const seen: unknown[] = []
    const listener = (name: string) => ({ handleEvent: () => seen.push([name, source.aborted, source.reason]) })
    const [first, out, last] = [listener('first'), listener('out'), listener('last')]
    for (const one of [first, out, last]) source.addEventListener('abort', one)
    source.removeEventListener('abort', out)
    expect([source.aborted, source.reason]).to.deep.equal([false, undefined])
    source.abort(reason)
    source.abort(new Error('again'))
    expect(seen).to.deep.equal([
      ['first', true, reason],
      ['last', true, reason]
    ])
  })

  it('lets a listener take out another one that has not been called', () => {
    const source = new CancellationSource()
    const seen: string[] = []
    const second = { handleEvent: () => seen.push('second') }
    source.addEventListener('abort', {
      handleEvent: () => {
        seen.push('first')
        source.removeEventListener('abort', second)
      }
    })
    source.addEventListener('abort', second)
    source.abort(reason)
    expect(seen).to.deep.equal(['first'])
  })

  it('has a signal that is aborted with it, whether it is asked for before or afterwards', () => {
    const [before, after] = [new CancellationSource(), new CancellationSource()]
    const { signal } = before
    expect(signal.aborted).to.equal(false)
    expect(before.signal).to.equal(signal)
    for (const source of [before, after]) source.abort(reason)
    expect([signal.reason, after.signal.reason]).to.deep.equal([reason, reason])
  })
})

describe('NEVER', () => {
  it('keeps no listeners, however many calls share it', () => {
    const warned: string[] = []
    const warn = ({ name }: Error): unknown => warned.push(name)
    process.on('warning', warn)
    const listeners = Array.from({ length: 20 }, () => ({ handleEvent: () => {} }))
    for (const one of listeners) NEVER.addEventListener('abort', one)
    for (const one of listeners) NEVER.removeEventListener('abort', one)
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      process.off('warning', warn)
      expect([warned, NEVER.aborted, NEVER.reason]).to.deep.equal([[], false, undefined])
    })
  })
})
