import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

const textOf = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')

const json = (file: string): unknown => JSON.parse(textOf(file))

const { scripts, engines, files } = json('package.json') as {
  readonly scripts: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly files: readonly string[]
}

const forms = ['ISSUE_TEMPLATE', 'DISCUSSION_TEMPLATE']
  .flatMap((folder) => readdirSync(join(packageRoot, '.github', folder)).map((name) => `.github/${folder}/${name}`))
  .filter((file) => !file.endsWith('/config.yml'))

const pages = ['CONTRIBUTING.md', '.github/pull_request_template.md', ...forms]

describe('what a contributor meets first', () => {
  it('CONTRIBUTING.md and the templates name npm scripts that package.json has.', () => {
    const named = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(/`npm (?:run )?([a-z:]+)/g), ([, name = '']) => ({ page, name }))
    )
    expect(named.filter(({ name }) => !Object.hasOwn(scripts, name))).to.deep.equal([])
    const contributing = named.filter(({ page }) => page === 'CONTRIBUTING.md').map(({ name }) => name)
    expect(contributing).to.include.members(['start', 'test', 'test:quick', 'test:compose', 'soak'])
  })

  it('CONTRIBUTING.md and the templates name files and folders that are there.', () => {
    const named = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(/`((?:\.|[\w-])[\w./-]*(?:\/|\.\w+))`/g), ([, path = '']) => ({ page, path }))
    )
    expect(named.filter(({ path }) => !existsSync(join(packageRoot, path)))).to.deep.equal([])
    expect(named).to.not.have.length(0)
  })

  it('A template has the members without which GitHub does not show it, and names each field once.', () => {
    expect(forms).to.include.members(['.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/feature.yml'])
    for (const form of forms) {
      const text = textOf(form)
      const required = form.includes('ISSUE') ? ['name', 'description', 'body'] : ['title', 'body']
      const members = Array.from(text.matchAll(/^(\w+):/gm), ([, member = '']) => member)
      expect(members, form).to.include.members(required)
      const types = Array.from(text.matchAll(/^ {2}- type: (.*)$/gm), ([, type = '']) => type)
      expect(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes'], form).to.include.members(types)
      const ids = Array.from(text.matchAll(/^ {4}id: (.*)$/gm), ([, id = '']) => id)
      expect([new Set(ids).size, ids.length], form).to.deep.equal([ids.length, types.length])
    }
  })

  it('The devcontainer and .nvmrc have the oldest version of Node that works.', () => {
    const oldest = textOf('.nvmrc').trim()
    expect(engines.node).to.match(new RegExp(`^>=${oldest}\\.`))
    expect(json('.devcontainer/devcontainer.json')).to.include({ image: `node:${oldest}-bookworm` })
  })

  it('The devcontainer installs packages that `npm test` would install, MariaDB and Chromium among them.', () => {
    const { postCreateCommand } = json('.devcontainer/devcontainer.json') as { readonly postCreateCommand: string }
    const [, names = ''] = /--no-install-recommends ([^&]*) &&/.exec(postCreateCommand) ?? []
    const installed = names.split(' ')
    expect(installed).to.include.members(['mariadb-server', 'chromium-headless-shell'])
    const programs = textOf('test/runner/programs.ts')
    expect(installed.filter((name) => !new RegExp(`^ {2}'?${name}'?: \\(`, 'm').test(programs))).to.deep.equal([])
  })

  it('.editorconfig says what the formatter makes of a file.', () => {
    const { printWidth } = json('.oxfmtrc.json') as { readonly printWidth: number }
    const [, all = ''] = /\[\*\]\n([^[]*)/.exec(textOf('.editorconfig')) ?? []
    // Without tabWidth, useTabs and endOfLine it takes two spaces and LF.
    expect(json('.oxfmtrc.json')).to.not.have.any.keys('tabWidth', 'useTabs', 'endOfLine', 'insertFinalNewline')
    expect(all.split('\n')).to.include.members([
      'end_of_line = lf',
      'indent_style = space',
      'indent_size = 2',
      'insert_final_newline = true',
      `max_line_length = ${printWidth}`
    ])
  })

  it('The package leaves out what is for contributors.', () => {
    for (const name of ['CONTRIBUTING.md', '.github', '.devcontainer', '.editorconfig', '.nvmrc']) {
      expect(existsSync(join(packageRoot, name)), name).to.equal(true)
      expect(files.filter((one) => one.startsWith(name))).to.deep.equal([])
    }
  })
})
