import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { ERROR_CODES, type ErrorCode, errorKind } from '../../shared/errors.js'
import { packageRoot } from '../harness/package-root.js'
import { messageLists } from './messages.js'

const document = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')

/** A row of the table: `409, guarded 412` for the one code whose status depends on the route (contract.md section 7). */
function row(code: ErrorCode): string {
  const { http, guarded, grpc, meaning } = errorKind(code)
  const anchor = code.replaceAll('.', '')
  const statuses = guarded === undefined ? String(http) : `${http}, guarded ${guarded.http}`
  return `| [\`${code}\`](#${anchor}) | ${statuses} | ${status[grpc]} | ${meaning} |`
}

describe('docs/errors.md', () => {
  it('has the table of shared/errors.ts, row by row', () => {
    const rows = document.split('\n').filter((line) => line.startsWith('| [`'))
    expect(rows).to.deep.equal(ERROR_CODES.map(row))
  })

  it('says of each code what the table says to do about it', () => {
    const [, remedies = ''] = document.split('\n# What to do about each\n')
    expect(remedies.trim().split('\n\n')).to.deep.equal(
      ERROR_CODES.map((code) => `## ${code}\n${errorKind(code).remedy}`)
    )
  })
})

describe('docs/messages', () => {
  let lists: ReadonlyMap<string, string>
  before(async () => {
    lists = await messageLists()
  })

  it('lists every text for people as `npm run messages` writes it', () => {
    expect([...lists.keys()]).to.have.length(5)
    for (const [path, list] of lists) {
      const stored = existsSync(join(packageRoot, path)) ? readFileSync(join(packageRoot, path), 'utf8') : ''
      const written = new Set(list.split('\n\n'))
      const kept = new Set(stored.split('\n\n'))
      // The whole lists have thousands of lines.
      expect(
        [...written].filter((entry) => !kept.has(entry)),
        `${path}: run npm run messages`
      ).to.deep.equal([])
      expect(
        [...kept].filter((entry) => !written.has(entry)),
        `${path}: run npm run messages`
      ).to.deep.equal([])
    }
  })

  it('holds what errors, pages, forms and commands say, and no lines of logs', () => {
    for (const [part, text] of [
      ['admin', 'Change the password'],
      ['both-processes', errorKind('conflict').remedy],
      ['command-line', 'runs both processes with settings for a first look, and again after each change of a file'],
      ['data-service', 'A part of an import has at most {MAX_BATCH} rows.'],
      ['gateway', 'There is no resource of this name; /docs shows what there is.'],
      ['gateway', 'What happened']
    ]) {
      expect(lists.get(`docs/messages/${part}.pot`), text).to.contain(`msgid ${JSON.stringify(text)}\n`)
    }
    expect(lists.get('docs/messages/gateway.pot')).to.not.contain('request completed')
  })
})
