import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

/** Targets of links and pictures, without those of other sites and of places on the same page. */
const TARGET = /\]\(((?!https?:|#)[^)\s#]+)(?:#[^)]*)?\)/g

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
