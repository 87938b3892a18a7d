import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { createLogger } from '../../shared/logger.js'

describe('the log', () => {
  it('shows no credentials, up to two members deep', () => {
    const written = new PassThrough()
    const log = createLogger({ name: 'test', level: 'info', destination: written })
    const secrets = { authorization: 'Bearer secret', cookie: 'a=secret', password: 'secret' }
    log.info({ ...secrets, headers: secrets, call: { metadata: { authorization: 'Bearer secret', id: 7 } } }, 'called')
    const hidden = { authorization: '***', cookie: '***', password: '***' }
    expect(JSON.parse(String(written.read()))).to.deep.include({
      ...hidden,
      headers: hidden,
      call: { metadata: { authorization: '***', id: 7 } },
      msg: 'called'
    })
  })
})
