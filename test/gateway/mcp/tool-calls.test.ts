import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import type { DispatchFunc, Response } from 'light-my-request'
import { startGateway } from '../gateway-fixture.js'
import { callTool, type ToolAnswer } from '../../../gateway/mcp/tool-calls.js'
import { TOOLS } from '../../../gateway/mcp/tools.js'
import { CancellationSource } from '../../../shared/transport/cancellation.js'

const LONG = JSON.stringify({ text: 'x'.repeat(600_000) })

describe('the answer of a tool', () => {
  const answerOf = async (
    name: string,
    response: Partial<Response>,
    signal = new CancellationSource(),
    begin: (dispatch: DispatchFunc) => void = () => undefined
  ): Promise<ToolAnswer> => {
    const gateway = await startGateway()
    try {
      const tool = TOOLS.find((one) => one.name === name)
      if (tool === undefined) throw new TypeError(`there is no tool ${name}`)
      const { catalogue } = gateway
      const app = { routing: () => undefined }
      const inject = (dispatch: DispatchFunc): Promise<Response> => {
        begin(dispatch)
        return Promise.resolve({ statusCode: 200, headers: {}, body: '{}', ...response } as Response)
      }
      const caller = {
        authorization: 'Bearer x',
        requestId: 'r',
        traceparent: undefined,
        clientAddress: '127.0.0.1',
        signal
      }
      const sent = {
        resource: 'products',
        id: 1,
        rowVersion: 'AAAAAAAAAAE=',
        values: {},
        idempotencyKey: 'k',
        action: 'publish'
      }
      return await callTool({ app, inject, catalogue, prefix: '' }, { tool, sent }, caller)
    } finally {
      await gateway.close()
    }
  }

  it('is an error where it is too long to read, but for a write, which is done', async () => {
    const read = await answerOf('get_row', { body: LONG })
    expect([read.isError, (JSON.parse(read.text) as { code: string }).code]).to.deep.equal([true, 'answer.too-large'])
    for (const name of ['create_row', 'update_row', 'run_action']) {
      const { text, isError } = await answerOf(name, { body: LONG, headers: { etag: 'W/"AAAAAAAAAAI="' } })
      expect([isError, JSON.parse(text)], name).to.deep.equal([
        false,
        { row: null, rowOmitted: true, etag: 'W/"AAAAAAAAAAI="', replayed: false, rolledBack: false }
      ])
    }
  })

  it('names the collections of a row of which it has the first rows only', async () => {
    const { text } = await answerOf('get_row', { body: '{"id":1}', headers: { 'x-truncated-includes': 'variants' } })
    expect(JSON.parse(text)).to.deep.equal({ row: { id: 1 }, firstRowsOnlyOf: 'variants' })
  })

  it('names the next page of rows that have no cursor', async () => {
    const pageOf = async (hasNext: boolean, headers: object = {}): Promise<unknown> => {
      const paging = { 'x-pagination': JSON.stringify({ currentPage: 2, hasNext }), ...headers }
      return JSON.parse((await answerOf('query_rows', { body: '[]', headers: paging })).text)
    }
    expect(await pageOf(true)).to.deep.equal({ rows: [], nextCursor: null, nextPage: 3 })
    expect(await pageOf(false)).to.deep.equal({ rows: [], nextCursor: null, nextPage: null })
    expect(await pageOf(true, { 'x-next-cursor': 'x' })).to.deep.equal({ rows: [], nextCursor: 'x', nextPage: null })
  })

  it('ends with its client for a read, and not for a write', async () => {
    const gone = new CancellationSource()
    gone.abort(new Error('gone'))
    const failure = await answerOf('get_row', {}, gone).catch((error: unknown) => error)
    expect(failure).to.have.property('message', 'gone')
    expect((await answerOf('update_row', {}, gone)).isError).to.equal(false)
  })

  it('a request that has begun is broken off when its client goes away if it reads, and goes on if it writes', async () => {
    const isBrokenOff = async (name: string): Promise<boolean> => {
      const signal = new CancellationSource()
      const request = new IncomingMessage(new Socket())
      const running = new ServerResponse(request)
      await answerOf(name, {}, signal, (dispatch) => {
        dispatch(request, running)
        signal.abort(new Error('gone'))
      }).catch(() => undefined)
      return running.destroyed
    }
    expect(await isBrokenOff('get_row')).to.equal(true)
    for (const name of ['create_row', 'update_row', 'run_action', 'delete_row'])
      expect(await isBrokenOff(name), name).to.equal(false)
  })
})
