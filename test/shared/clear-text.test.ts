import { expect } from 'chai'
import { warnOfClearText } from '../../shared/openid-settings.js'
import { memoryLog } from '../harness/memory-log.js'

describe('URLs that lead over a network in clear text', () => {
  it('are a warning each, with the name of the setting and not the URL', () => {
    const { log, lines, text } = memoryLog()
    warnOfClearText(
      {
        RENDERER_URL: 'http://renderer.internal:8080',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://10.0.0.7:4318/v1/traces',
        LOOPBACK: 'http://127.0.0.1:4318',
        THIS_MACHINE: 'http://localhost:3001',
        ENCRYPTED: 'https://renderer.internal',
        UNSET: undefined
      },
      log
    )
    expect(lines.map(({ level, setting }) => [level, setting])).to.deep.equal([
      ['warn', 'RENDERER_URL'],
      ['warn', 'OTEL_EXPORTER_OTLP_ENDPOINT']
    ])
    expect(text()).to.not.include('renderer.internal')
  })
})
