import { expect } from 'chai'
import { redactUrl, SettingsError, SettingsReader } from '../../shared/settings.js'

describe('SettingsReader', () => {
  it('takes a blank setting for unset', () => {
    const reader = new SettingsReader<string>({ A: ' ', B: '' })
    expect([reader.text('A', 'x'), reader.optionalText('B'), reader.flag('B', true)]).to.deep.equal([
      'x',
      undefined,
      true
    ])
    reader.finish()
  })

  it('reads durations in milliseconds', () => {
    const reader = new SettingsReader<string>({ A: '500ms', B: '10s', C: '15m', D: '24h', E: '7d' })
    expect(['A', 'B', 'C', 'D', 'E'].map((name) => reader.duration(name, '1s'))).to.deep.equal([
      500, 10_000, 900_000, 86_400_000, 604_800_000
    ])
  })

  it('keeps every fault and reads on', () => {
    const reader = new SettingsReader<string>({ A: 'maybe', B: '1e3', C: '0s', D: '99999999999999999999' })
    reader.flag('A', false)
    expect(reader.integer('B', { fallback: 5, min: 1 })).to.equal(5)
    reader.duration('C', '1s')
    reader.integer('D', { fallback: 5, min: 1 })
    expect(() => reader.finish())
      .to.throw(SettingsError)
      .with.property('message')
      .that.matches(
        /^Cannot start: 4 settings are wrong\.\n- A must be true or false, not "maybe"\.\n- B .*\n- C .*\n- D /
      )
  })

  it('prints each setting on one line, a text of several lines too', () => {
    const reader = new SettingsReader<string>({ A: '-----BEGIN X-----\nabc\n', B: 'b' })
    for (const name of ['A', 'B']) reader.optionalText(name)
    expect(reader.effective()).to.equal(String.raw`A=-----BEGIN X-----\nabc\n` + '\nB=b')
  })

  it('redacts passwords wherever a URL ends up', () => {
    expect(redactUrl('mysql://u:p@h/d')).to.equal('mysql://u:***@h/d')
    expect(redactUrl('mysql://u:p@ss/w:rd@h/d')).to.equal('mysql://u:***@h/d')
    expect(redactUrl('https://b/x?sv=1&sig=abc&se=2')).to.equal('https://b/x?sv=1&sig=***&se=2')
    expect(redactUrl('sqlite:/a:b@c')).to.equal('sqlite:/a:b@c')
  })
})
