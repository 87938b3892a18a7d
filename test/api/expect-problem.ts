import { expect } from 'chai'
import { json, type Answer } from './http-call.js'

interface ExpectedViolation {
  readonly code: string
  /** Where it lies: one of the three. */
  readonly parameter?: string
  readonly pointer?: string
  readonly header?: string
  /** A part of the detail. */
  readonly says?: string
}

export interface ExpectedProblem {
  readonly status: number
  readonly code: string
  /** A part of the detail. */
  readonly says?: string
  /** All violations in order of the request; a problem lists each, also where there is one. */
  readonly violations?: readonly ExpectedViolation[]
  /** Base of `type`. */
  readonly base: string
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: string
  readonly requestId: string
  readonly errors?: readonly (ExpectedViolation & { readonly detail: string })[]
}

const MEMBERS = ['code', 'detail', 'instance', 'requestId', 'status', 'title', 'type']
const LEAKS =
  /\b(select|from `|sequelize|mysql|mariadb|sqlite|row_version|category_id|risk_note|node_modules|at .*\.js:\d)/i

/** Holds an answer against contract section 7 in full, and answers the problem for what only one test cares about. */
export function expectProblem(answer: Answer, expected: ExpectedProblem): Problem {
  expect(answer.status, answer.text).to.equal(expected.status)
  expect(answer.headers['content-type']).to.match(/^application\/problem\+json(; charset=utf-8)?$/)
  expect(answer.headers['cache-control']).to.match(/no-store/)
  expect(answer.headers['x-request-id']).to.match(/^[A-Za-z0-9._-]{1,128}$/)
  // The shape is what is being checked.
  const problem = json(answer) as Problem
  expect(Object.keys(problem).filter((name) => name !== 'errors')).to.have.members(MEMBERS)
  expect(problem).to.include({
    type: `${expected.base}/problems/${expected.code}`,
    status: expected.status,
    code: expected.code,
    instance: answer.path,
    requestId: answer.headers['x-request-id']
  })
  expect(problem.title).to.be.a('string').and.not.equal('')
  expect(problem.detail).to.be.a('string').and.not.equal('')
  // What the caller wrote may come back; the rest is the service's own.
  const own = (expected.violations ?? []).reduce((text, { says }) => text.replaceAll(says ?? '\0', ''), answer.text)
  expect(own).not.to.match(LEAKS)
  if (expected.says !== undefined) expect(problem.detail).to.include(expected.says)
  if (expected.violations !== undefined) expectViolations(problem, expected.violations)
  return problem
}

function expectViolations(problem: Problem, violations: readonly ExpectedViolation[]): void {
  const listed = problem.errors ?? []
  expect(listed.map(placed), JSON.stringify(problem)).to.have.deep.members(violations.map(placed))
  for (const { code, says } of violations) {
    if (says === undefined) continue
    const details = listed.filter((one) => one.code === code).map((one) => one.detail)
    expect(
      details.some((detail) => detail.includes(says)),
      `${says} in ${details.join(' | ')}`
    ).to.equal(true)
  }
}

function placed({ code, parameter, pointer, header }: ExpectedViolation): object {
  return { code, parameter, pointer, header }
}
