import { type Server, type ServerDuplexStream, status, type UntypedHandleCall } from '@grpc/grpc-js'
import { addressOf } from './grpc.js'
import { Turns } from '../../../shared/turns.js'

/** Streams of reflection that a peer may have open. A tool has one. */
const STREAMS_OF_PEER = 8

/** Requests of one stream. A tool asks for each file and service once. */
const REQUESTS_OF_STREAM = 1000

type Reflection = ServerDuplexStream<unknown, unknown>

/**
 * The part of a server that @grpc/reflection adds its services to. Its handlers read a stream as fast as it comes and keep
 * what is not taken of their answers, each of which may be a whole file; here a peer has some streams, of which one request
 * is answered in a turn of the event loop, once the answer before has been taken. Beyond: RESOURCE_EXHAUSTED.
 */
export function boundedReflection(server: Pick<Server, 'addService'>): Pick<Server, 'addService'> {
  const turns = new Turns(1)
  const open = new Map<string, number>()
  const bounded = (handle: (call: Reflection) => void, call: Reflection): void => {
    const peer = addressOf(call.getPeer()) ?? ''
    const others = open.get(peer) ?? 0
    if (others >= STREAMS_OF_PEER)
      return exhausted(call, `A peer has ${STREAMS_OF_PEER} streams of reflection at most.`)
    open.set(peer, others + 1)
    onceEnded(call, () => {
      const left = (open.get(peer) ?? 1) - 1
      if (left === 0) open.delete(peer)
      else open.set(peer, left)
    })
    handle(withMessagesInTurn(call, (answer) => turns.enter(peer, answer)))
  }
  return {
    addService: (service, implementation) => {
      // Reflection has one kind of method, a stream both ways.
      const handlers = Object.entries(implementation).map(([name, handle]) => [
        name,
        (call: Reflection) => bounded(handle as unknown as (call: Reflection) => void, call)
      ])
      server.addService(service, Object.fromEntries(handlers) as Record<string, UntypedHandleCall>)
    }
  }
}

/** The call, whose listeners get the next message once `inTurn` has let them and the answers before have been taken. */
function withMessagesInTurn(call: Reflection, inTurn: (answer: () => void) => void): Reflection {
  const listen = call.on.bind(call)
  let asked = 0
  const on = (event: string, listener: (...args: unknown[]) => void): Reflection => {
    if (event !== 'data') return listen(event, listener)
    return listen('data', (message: unknown) => {
      call.pause()
      asked += 1
      if (asked > REQUESTS_OF_STREAM) {
        return exhausted(call, `A stream of reflection has ${REQUESTS_OF_STREAM} requests at most.`)
      }
      inTurn(() => {
        if (call.cancelled) return
        listener(message)
        if (call.writableNeedDrain) call.once('drain', () => call.resume())
        else call.resume()
      })
    })
  }
  call.on = on as typeof call.on
  return call
}

function onceEnded(call: Reflection, ended: () => void): void {
  let isOpen = true
  const end = (): void => {
    if (isOpen) ended()
    isOpen = false
  }
  call.on('cancelled', end)
  call.on('finish', end)
  call.on('close', end)
}

function exhausted(call: Reflection, details: string): void {
  call.emit('error', { code: status.RESOURCE_EXHAUSTED, details })
}
