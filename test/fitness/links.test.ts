import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

/** Targets of links and pictures, without those of other sites and of places on the same page. */
const TARGET = /\]\(((?!https?:|#)[^)\s#]+)(?:#[^)]*)?\)/g

/** A link to a source file whose text is a name in it: [`planPage`](../data-service/plan/plan-reads.ts). */
const NAMED = /\[`([\w.]+)`\]\(([^)\s#]+\.(?:ts|proto))\)/g

/** The same in pages that the package holds too, where no link could lead to a source: `planPage`, `data-service/plan/x.ts`. */
const NAMED_PATH = /`([\w.]+)`(?:, | \()`([\w/.-]+\.(?:ts|proto))`/g

/** A path of the repository in plain text. */
const PATH = /`((?:bench|campaign|cli|clients|data-service|examples|gateway|proto|shared|test|tools)\/[\w/.-]*\.\w+)`/g

/** In the names of files that a reader of docs/adding-an-entity.md makes. */
const MADE_BY_READERS = 'gift-cards'

/** A link to a heading, on the same page or on another one. */
const ANCHOR = /\]\(((?!https?:)[^)\s#]*\.md|)#([^)\s]+)\)/g

const textOf = (page: string): string => readFileSync(join(packageRoot, page), 'utf8')

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = textOf(page).replaceAll(/^```.*?^```$/gms, '')
  const seen = new Map<string, number>()
  return new Set(
    Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => {
      const anchor = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
        .replaceAll(' ', '-')
      const count = seen.get(anchor) ?? 0
      seen.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    })
  )
}

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
    'CONTRIBUTING.md',
    'examples/store/storefront/README.md',
    ...readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  ]
  const targets = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(TARGET), ([, target = '']) => ({ page, target }))
  )

  it('lead to files that are there', () => {
    const broken = targets.filter(({ page, target }) => !existsSync(join(packageRoot, dirname(page), target)))
    expect(broken).to.deep.equal([])
  })

  it('lead to headings that are there', () => {
    const broken = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(ANCHOR), ([, target = '', anchor = '']) => ({ page, target, anchor })).filter(
        ({ target, anchor }) => !anchorsOf(target === '' ? page : join(dirname(page), target)).has(anchor)
      )
    )
    expect(broken).to.deep.equal([])
  })

  it('have paths of the repository that are there, in plain text too', () => {
    const broken = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(PATH), ([, path = '']) => ({ page, path })).filter(
        ({ path }) => !existsSync(join(packageRoot, path)) && !path.includes(MADE_BY_READERS)
      )
    )
    expect(broken).to.deep.equal([])
  })

  it('name what the file declares, where their text is a name', () => {
    const named = pages.flatMap((page) => [
      ...Array.from(textOf(page).matchAll(NAMED), ([, name = '', target = '']) => ({
        page,
        name,
        path: join(dirname(page), target)
      })),
      ...Array.from(textOf(page).matchAll(NAMED_PATH), ([, name = '', path = '']) => ({ page, name, path }))
    ])
    const wrong = named.filter(({ name, path }) => !declares(readFileSync(join(packageRoot, path), 'utf8'), name))
    expect(wrong).to.deep.equal([])
    expect(named.filter(({ page }) => page === 'docs/tour.md')).to.have.length.at.least(50)
  })

  it('lead to every chapter from the index of docs', () => {
    const chapters = readdirSync(join(packageRoot, 'docs')).filter(
      (name) => name.endsWith('.md') && name !== 'README.md'
    )
    const listed = targets.filter(({ page }) => page === 'docs/README.md').map(({ target }) => target)
    expect(listed).to.include.members(chapters)
  })

  it('show the admin and the shop', () => {
    expect(targets).to.deep.include.members([
      { page: 'README.md', target: 'docs/screenshots/admin-suppliers-desktop.png' },
      { page: 'examples/store/storefront/README.md', target: '../../../docs/screenshots/list-desktop.png' }
    ])
  })

  it('of the shop are there for desktop and phone', () => {
    const pictures = readdirSync(join(packageRoot, 'docs/screenshots'))
    for (const page of ['list', 'product', 'cart']) {
      expect(pictures, page).to.include.members([`${page}-desktop.png`, `${page}-phone.png`])
    }
  })
})
