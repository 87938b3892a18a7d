import { expect } from 'chai'
import { readableLine } from '../../cli/processes/processes.js'

describe('a line of the log of npm start', () => {
  it('has nothing unprintable that a terminal might obey, only the line ends of a stack', () => {
    const bad = [
      '\u001b[2J',
      '\u009b2J',
      '\u202e',
      '\u2066',
      '\u2028',
      '\u2029',
      '\u200b',
      '\u007f',
      '\ud800',
      '\n',
      '\r'
    ]
    const text = `Grüße ✓ ${bad.join('')}`
    const entry = { level: text, msg: text, path: text, deep: { text }, [text]: 1, err: { stack: `one\n${text}` } }
    const line = readableLine('gateway', entry)
    expect(line).to.include('Grüße ✓ \\u{1b}[2J\\u{9b}2J\\u{202e}')
    // The end of the stack's first line, and the one within the text.
    expect(line.split('\n')).to.have.length(4)
    expect(line.replaceAll('\n', '')).to.match(/^[^\p{C}\p{Zl}\p{Zp}]*$/u)
  })
})
