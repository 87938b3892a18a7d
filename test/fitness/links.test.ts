import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

/** Targets of links and pictures, without those of other sites and of places on the same page. */
const TARGET = /\]\(((?!https?:|#)[^)\s#]+)(?:#[^)]*)?\)/g

/** A link to a source file whose text is a name in it: [`planPage`](../data-service/plan/plan-reads.ts). */
const NAMED = /\[`([\w.]+)`\]\(([^)\s#]+\.(?:ts|proto))\)/g

/** Whether a file declares the name, or for `Class.member` the class and something in it of that name. */
function declares(source: string, name: string): boolean {
  const [root = '', ...members] = name.split('.')
  const keyword = '(?:function\\*?|class|interface|type|const|rpc|service|message)'
  const declaration = new RegExp(`^ *(?:export )?(?:default )?(?:abstract )?(?:async )?${keyword} ${root}\\b`, 'm')
  return (
    declaration.test(source) &&
    members.every((member) => new RegExp(`^ +(?:readonly |async |get |static )*'?${member}'?[<(:]`, 'm').test(source))
  )
}

describe('links between pages', () => {
  const pages = [
    'README.md',
    'examples/store/storefront/README.md',
    ...readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  ]
  const targets = pages.flatMap((page) =>
    Array.from(readFileSync(join(packageRoot, page), 'utf8').matchAll(TARGET), ([, target = '']) => ({ page, target }))
  )

  it('lead to files that are there', () => {
    const broken = targets.filter(({ page, target }) => !existsSync(join(packageRoot, dirname(page), target)))
    expect(broken).to.deep.equal([])
  })

  it('name what the file declares, where their text is a name', () => {
    const named = pages.flatMap((page) =>
      Array.from(readFileSync(join(packageRoot, page), 'utf8').matchAll(NAMED), ([, name = '', target = '']) => ({
        page,
        name,
        path: join(dirname(page), target)
      }))
    )
    const wrong = named.filter(({ name, path }) => !declares(readFileSync(join(packageRoot, path), 'utf8'), name))
    expect(wrong).to.deep.equal([])
    expect(named.filter(({ page }) => page === 'docs/tour.md')).to.have.length.at.least(50)
  })

  it('show the shop', () => {
    expect(targets).to.deep.include({ page: 'README.md', target: 'docs/screenshots/list-desktop.png' })
  })

  it('of the shop are there for desktop and phone', () => {
    const pictures = readdirSync(join(packageRoot, 'docs/screenshots'))
    for (const page of ['list', 'product', 'cart']) {
      expect(pictures, page).to.include.members([`${page}-desktop.png`, `${page}-phone.png`])
    }
  })
})
