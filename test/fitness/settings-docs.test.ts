import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { firstLook } from '../../cli/dev.js'
import store from '../../examples/store/uniform-rest.config.js'
import { SETTING_NAMES } from '../../shared/settings.js'
import { runCommand } from '../harness/command.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'

const document = readFileSync(join(packageRoot, 'docs/settings.md'), 'utf8')

/** Name to default of the rows below a heading; `none` is the empty text that `--print-config` prints. */
function documented(heading: string): [string, string][] {
  const section = document.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  return Array.from(section.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`|none) \|/gm), ([, name = '', value = '']) => [
    name,
    value
  ])
}

async function printed(main: string): Promise<Record<string, string>> {
  const command = ['start', main, '--print-config', '--app', join(outputRoot, 'examples/store')]
  const { stdout: text } = await runCommand(command)
  return Object.fromEntries(
    Array.from(text.matchAll(/^([A-Z_]+)=(.*)$/gm), ([, name = '', value = '']) => [name, value])
  )
}

/** Settings of webhooks that the store names itself. */
const OF_THE_STORE: readonly string[] = ['ORDER_WEBHOOK_URL', 'ORDER_WEBHOOK_SECRET']

describe('docs/settings.md', () => {
  for (const [heading, main] of [
    ['Gateway', 'gateway'],
    ['Data service', 'data-service']
  ] as const) {
    it(`lists every setting of ${main} with its default, and no other`, async () => {
      const rows = [...documented('Both processes'), ...documented(heading)]
      expect(new Set(rows.map(([name]) => name)).size).to.equal(rows.length)
      expect(Object.fromEntries(rows)).to.deep.equal(await printed(main))
    })
  }

  it('lists what the readers of settings take', () => {
    const rows = ['Both processes', 'Gateway', 'Data service'].flatMap(documented).map(([name]) => name)
    expect(rows.filter((name) => !OF_THE_STORE.includes(name))).to.deep.equal([...SETTING_NAMES])
    expect(rows).to.include.members([...OF_THE_STORE])
  })

  it('tells what a first look chooses', () => {
    const rows = documented('What `npm start` chooses')
    expect(Object.fromEntries(rows)).to.deep.equal(firstLook(store.settings, store))
    // What the settings of the reference store say otherwise.
    expect(firstLook({}, store)).to.include({ STRICT_HANDLING: 'true' })
  })
})
