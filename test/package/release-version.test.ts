import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
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
