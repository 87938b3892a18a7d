import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { transform } from 'esbuild'
import { packageRoot } from '../harness/package-root.js'

describe('the version of a release', () => {
  let made: {
    released(changelog: string, release: { version: string; day: string; contracts: string }): string
    notesOf(changelog: string, version: string): string
    withVersion(text: string, version: string): string
  }
  before(async () => {
    made = (await import(pathToFileURL(join(packageRoot, 'tools/release/version.mjs')).href)) as typeof made // a tool, no part of the build
  })
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n- A thing.\n\n## [0.4.0] - 2026-01-02\nOld.\n'

  it('turns what is unreleased into its section, from which the notes of its tag come', () => {
    const release = { version: '0.5.0', day: '2026-03-04', contracts: 'Contract 1.' }
    const next = made.released(changelog, release)
    expect(next).to.include('## [Unreleased]\n\n## [0.5.0] - 2026-03-04\nContract 1.\n\n### Added\n- A thing.\n')
    expect(made.notesOf(next, '0.5.0')).to.equal('## [0.5.0] - 2026-03-04\nContract 1.\n\n### Added\n- A thing.')
    expect(() => made.released(next, release)).to.throw('there is nothing to release')
    expect(() => made.notesOf(next, '9.9.9')).to.throw('no section of 9.9.9')
  })

  it('is written beside each of our names, and beside no other', () => {
    const lock = readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')
    const changed = made.withVersion(lock, '99.98.97')
    const { packages } = JSON.parse(changed) as {
      readonly packages: Readonly<Record<string, { readonly version?: string }>>
    } // npm's format
    const ours = Object.keys(packages).filter((path) => packages[path]?.version === '99.98.97')
    expect(ours).to.include('')
    expect(ours.filter((path) => path.startsWith('node_modules/'))).to.deep.equal([])
    const page = readFileSync(join(packageRoot, 'docs/versions.md'), 'utf8')
    expect(made.withVersion(page, '99.98.97')).to.include('\nuniform-rest 99.98.97\n')
    const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8')
    expect(made.withVersion(readme, '99.98.97')).to.include(
      '"$OLDPWD"/uniform-rest-99.98.97.tgz "$OLDPWD"/uniform-rest-pages-99.98.97.tgz'
    )
  })
})

describe('what a release publishes', () => {
  let made: {
    publishedCode(code: string): Promise<string>
    publishedPage(page: string, about: { path: string; published: ReadonlySet<string>; source?: string }): string
    pagesOfRepository(chapters: string): string[]
  }
  before(async () => {
    made = (await import(pathToFileURL(join(packageRoot, 'tools/release/published.mjs')).href)) as typeof made // a tool, no part of the build
  })

  it('has code of the same tokens in the same lines, without spaces and comments', async () => {
    const code = `#!/usr/bin/env node
// A comment.
const a = 1 + +b / 2; // another
const list = [
  // another one
  /* and another */ a, typeof/* another */b];
const text = \`two  spaces
  \${ a ? 'an  a' : /b  c/.test(d) } and a line\`;
if (typeof a in { b: 1 .toString() }) return_ = async (x) => { throw new Error('no  way', { cause: x }) };
export { a, text };
`
    const published = await made.publishedCode(code)
    expect(published)
      .to.include('#!/usr/bin/env node\n')
      .and.include('const a=1 + +b / 2;\n')
      .and.include('`two  spaces\n  ${')
      .and.include('/b  c/')
      .and.include('throw new Error("no  way",{cause:x});\n')
      .and.not.match(/comment|another/)
    const tokens = async (of: string) => (await transform(of, { minifyWhitespace: true, format: 'esm' })).code
    expect(await tokens(published)).to.equal(await tokens(code))
  })

  it('has pages that lead to published ones, and to the repository where its address is known', () => {
    const page = `See [errors](errors.md#a), [007](decisions/007-x.md), [the code](../gateway/app.ts#L1) and [RFC](https://rfc.example).
![A list](screenshots/list.png)
\`\`\`ts
rows[name](row)
\`\`\`
`
    const about = { path: 'docs/http.md', published: new Set(['docs/errors.md', 'docs/http.md']) }
    expect(made.publishedPage(page, about)).to.equal(
      page
        .replace('[007](decisions/007-x.md)', 'decision 007')
        .replace('[the code](../gateway/app.ts#L1)', 'the code')
        .replace('![A list](screenshots/list.png)', '(Picture: A list)')
    )
    expect(made.publishedPage(page, { ...about, source: 'https://git.example/r/blob/v1' })).to.include(
      '[errors](errors.md#a), [007](https://git.example/r/blob/v1/docs/decisions/007-x.md), [the code](https://git.example/r/blob/v1/gateway/app.ts#L1)'
    )
  })

  it('leaves the pages about the repository there, and no other', () => {
    const chapters = readFileSync(join(packageRoot, 'docs/README.md'), 'utf8')
    const pages = made.pagesOfRepository(chapters)
    expect(pages).to.include.members(['docs/decisions', 'docs/tour.md', 'docs/scaling.md', 'docs/spec/domain.md'])
    const forUsers = ['docs/errors.md', 'docs/spec/contract.md', 'docs/settings.md', 'docs/admin.md', 'docs/recipes']
    expect(pages.filter((one) => forUsers.some((page) => page.startsWith(one)))).to.deep.equal([])
  })
})

describe('a step of a release', () => {
  const refused = (...args: string[]): string => {
    const tool = join(packageRoot, 'tools/release.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...args], { encoding: 'utf8' })
    expect([status, stdout], stderr).to.deep.equal([1, ''])
    return stderr
  }

  it('takes its own options alone', () => {
    expect(refused('publish', '--repository', 'https://git.example/a')).to.include(
      'The step publish takes --registry, not --repository.'
    )
    expect(refused('tag', 'v1')).to.include('The step tag takes nothing, not v1.')
    expect(refused('lint', '--registry', 'https://npm.example')).to.include('takes nothing, not --registry.')
    expect(refused('pack', '--registri', 'a'))
      .to.include("Unknown option '--registri'")
      .and.include('Usage: ')
    expect(refused()).to.match(/^Usage: /)
  })
})
