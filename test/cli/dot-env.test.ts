import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readDotEnv } from '../../cli/application/dot-env.js'

describe('the file .env', () => {
  let folder = ''
  let file = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dot-env-'))
    file = join(folder, '.env')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const failure = (): { readonly name: string; readonly message: string } => {
    try {
      readDotEnv(file)
    } catch (error) {
      if (error instanceof Error) return error
    }
    return { name: 'none', message: '' }
  }

  it('need not be there', () => {
    expect(readDotEnv(file)).to.deep.equal({})
  })

  for (const [text, settings] of [
    ['', {}],
    ['\uFEFFA=1\nB=2', { A: '1', B: '2' }],
    ['A=1\r\n\r\n  # it\'s a "comment"\r\nB=2\r\n', { A: '1', B: '2' }],
    ['A= \nB=\nC=3', { A: '', B: '', C: '3' }],
    [' export A = 1 \n\tB\t=\t2 # two #2', { A: '1', B: '2' }],
    [`A="it's" # said\nB='"'\nC=\`"'\`\nD=it's`, { A: "it's", B: '"', C: `"'`, D: "it's" }],
    ['A="a\\nb#c"\nB=x=y==', { A: 'a\nb#c', B: 'x=y==' }]
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, async () => {
      await writeFile(file, text)
      expect({ ...readDotEnv(file) }).to.deep.equal(settings)
    })
  }

  for (const [text, says] of [
    ['A=1\nsecret\nB=2', 'line 2: It must be NAME=value'],
    ['A: secret', 'line 1: It must be NAME=value'],
    ['=secret', 'line 1: It must be NAME=value'],
    ['A B=secret', 'line 1: It must be NAME=value'],
    ['A=1\n\nB="secret\nC=3"', 'line 3: The quote " must be closed in the same line'],
    ["A='", "line 1: The quote ' must be closed"],
    ['A="secret"secret', 'line 1: Only a comment may follow the closing "'],
    ['A=sec#ret', 'line 1: A value with # in it must stand in quotes'],
    ['A=1\rB=secret', 'line 1: It holds a control character']
  ] as const) {
    it(`is rejected for ${JSON.stringify(text)}, without what the line says`, async () => {
      await writeFile(file, text)
      const { name, message } = failure()
      expect(name).to.equal('Failure')
      expect(message).to.include(`${file}, ${says}`).and.not.include('sec')
    })
  }

  it('is told every line that is wrong at once', async () => {
    await writeFile(file, 'A\nB=1\nC')
    expect(failure().message.match(/line \d+/g)).to.deep.equal(['line 1', 'line 3'])
  })

  for (const [encoding, bytes] of [
    ['UTF-16 with its mark', Buffer.from('\uFEFFA=1\n', 'utf16le')],
    ['UTF-16 without one', Buffer.from('A=1\n', 'utf16le')],
    ['Latin-1', Buffer.from('A=ü\n', 'latin1')]
  ] as const) {
    it(`is rejected in ${encoding}`, async () => {
      await writeFile(file, bytes)
      expect(failure()).to.include({
        name: 'Failure',
        message: `${file} is not UTF-8 (UTF-16, perhaps). Save it as UTF-8.`
      })
    })
  }

  it('is rejected if it cannot be read', async () => {
    await mkdir(file)
    const { name, message } = failure()
    expect(name).to.equal('Failure')
    expect(message).to.include(`${file} cannot be read: EISDIR`)
  })
})
