import { EventEmitter } from 'node:events'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { BrokenSockets } from '../../shared/transport/broken-sockets.js'

describe('the socket of an HTTP/2 session', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('is destroyed from one look to the next after its session was, and not before', () => {
    const session = { destroyed: false }
    let destroyed = 0
    const socket = Object.assign(new EventEmitter(), { destroy: () => (destroyed += 1) })
    // Both have many more members, which are not used here.
    new BrokenSockets(1000).watch(session as ServerHttp2Session, socket as unknown as Socket)
    mock.timers.tick(5000)
    session.destroyed = true
    mock.timers.tick(1000)
    expect(destroyed).to.equal(0)
    mock.timers.tick(1000)
    expect(destroyed).to.equal(1)
    socket.emit('close')
    mock.timers.tick(5000)
    expect(destroyed).to.equal(1)
  })
})
