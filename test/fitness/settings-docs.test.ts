import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
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

function printed(main: string): Record<string, string> {
  const text = execFileSync(process.execPath, ['--enable-source-maps', join(outputRoot, main), '--print-config'], {
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8'
  })
  return Object.fromEntries(
    Array.from(text.matchAll(/^([A-Z_]+)=(.*)$/gm), ([, name = '', value = '']) => [name, value])
  )
}

describe('docs/settings.md', () => {
  for (const [heading, main] of [
    ['Gateway', 'gateway/main.js'],
    ['Data service', 'examples/store/main.js']
  ] as const) {
    it(`lists every setting of ${main} with its default, and no other`, () => {
      const rows = [...documented('Both processes'), ...documented(heading)]
      expect(new Set(rows.map(([name]) => name)).size).to.equal(rows.length)
      expect(Object.fromEntries(rows)).to.deep.equal(printed(main))
    })
  }

  it('tells what npm start chooses', async () => {
    const module: unknown = await import(pathToFileURL(join(packageRoot, 'tools/demo-environment.mjs')).href)
    // The types of tools/ are not part of this build; the module exports this one function.
    const { demoEnvironment } = module as { demoEnvironment: () => NodeJS.ProcessEnv }
    const own = new Set(Object.keys(process.env))
    const chosen = Object.entries(demoEnvironment()).filter(([name]) => !own.has(name))
    const rows = documented('What `npm start` chooses').filter(([name]) => !own.has(name))
    expect(Object.fromEntries(rows)).to.deep.equal(Object.fromEntries(chosen))
  })
})
