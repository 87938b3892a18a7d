import {
  callerOfClaims,
  identifyBy,
  outsideClaimMapping,
  ownClaimMapping,
  ownerOfClaim,
  permissionsOf
} from '../../data-service/auth/tokens/claims.js'
import { checkCredentials } from '../../data-service/auth/login.js'
import { parseRefreshToken } from '../../data-service/auth/tokens/refresh-token.js'
import type { Authenticated } from '../../data-service/entity/caller.js'
import {
  binary,
  bits,
  bool,
  date,
  dateTime,
  decimal,
  double,
  float,
  freeText,
  guid,
  int,
  json,
  long,
  longText,
  oneOf,
  setOf,
  text as words,
  time,
  unsigned
} from '../../data-service/entity/fields/words.js'
import type { Column, KeyColumns } from '../../data-service/entity/fields/columns.js'
import type { Field } from '../../data-service/entity/fields/field.js'
import { operatorNamed } from '../../data-service/entity/fields/operators.js'
import {
  fitDecimal,
  parseDecimal,
  parseDouble,
  parseInteger,
  withoutTrailingZeros
} from '../../data-service/entity/fields/numbers.js'
import { checkOwnerFilter } from '../../data-service/plan/authorize.js'
import { readChildren, readMembers } from '../../data-service/plan/parsing/body.js'
import { makeCatalogue } from '../../data-service/plan/model/catalogue.js'
import { CursorCodec, isCursor } from '../../data-service/plan/parsing/cursors.js'
import {
  isTooLong,
  missingHalf,
  parseConditions,
  parseSearch,
  splitItems
} from '../../data-service/plan/parsing/filters.js'
import type { PlanningContext } from '../../data-service/plan/planning.js'
import { parseIncludes } from '../../data-service/plan/parsing/includes.js'
import {
  parseFields,
  parseFlag,
  parseOrder,
  parsePaging,
  parseShape,
  parseSort
} from '../../data-service/plan/parsing/query.js'
import { compositeParts } from '../../data-service/entity/key.js'
import { parseDeleteBatch, parseUpdateBatch } from '../../data-service/plan/batch-requests.js'
import { parseId, parseIdMember, parseSearchedId, parseUnique } from '../../data-service/plan/parsing/keys.js'
import { isWritten, outOfBounds, parseMember, parseUnusual, parseValue } from '../../data-service/entity/types/types.js'
import { BodyFindings, Violations, quoted } from '../../data-service/plan/parsing/violations.js'
import {
  optionalVersions,
  parseAct,
  parseBatch,
  parseCreate,
  parseDelete,
  parseIdempotencyKey,
  parseUpdate,
  requiredVersions
} from '../../data-service/plan/write-requests.js'
import { exportOptions } from '../../gateway/entity-routes/exports.js'
import { READ_ROUTES } from '../../gateway/entity-routes/paths.js'
import { forwardedAddress, forwardedFor, TrustedProxies } from '../../gateway/http/client-address.js'
import { cookieViolation } from '../../gateway/http/cookies.js'
import { crossSiteHeader, isFromAnotherOrigin } from '../../gateway/http/cross-site.js'
import {
  acceptedCoding,
  addVary,
  authorizationOf,
  hasEntityTag,
  headerLines,
  listMembers,
  splitOutsideQuotes,
  trimOws
} from '../../gateway/http/header-fields.js'
import { checkJsonBody, checkMediaType, mediaTypeAmong } from '../../gateway/http/json-body.js'
import { pageLinks } from '../../gateway/http/links.js'
import {
  acceptsCsv,
  acceptsHtml,
  checkApiVersion,
  ignoredParameters,
  preferredHandling,
  prefersRollback,
  refusesHtml
} from '../../gateway/http/negotiation.js'
import { idempotencyKey, ifMatch } from '../../gateway/http/preconditions.js'
import { forwardedOrigin } from '../../gateway/http/public-address.js'
import {
  FilterPairs,
  pickParameters,
  nameOf,
  originForm,
  parseQuery,
  pathOfTarget,
  percentDecode,
  queryOf,
  routedTarget,
  routeQuery,
  loggedPath
} from '../../gateway/http/query-string.js'
import {
  checkBodySize,
  checkRequestHead,
  checkRequestHeadSize,
  continueTrace,
  pathOfMalformedHead
} from '../../gateway/http/request-head.js'
import { destinationOf, rendererPath, splitPath } from '../../gateway/renderer/destination.js'
import { downstreamHeaders, upstreamHeaders } from '../../gateway/renderer/forward.js'
import {
  antiforgeryCookieIn,
  antiforgeryFieldIn,
  claimedSession,
  decodeSignature,
  isPlainForm
} from '../../gateway/session/antiforgery.js'
import { sentCookies, sentRefreshTokens, withoutRefreshToken, withSession } from '../../gateway/session/cookies.js'
import { readTokenRequest } from '../../gateway/session/machine-tokens.js'
import { ownPath } from '../../gateway/session/outside-sign-in.js'
import { jsonMembers } from '../../gateway/session/session-tools.js'
import { verifiedToken, verifyToken } from '../../shared/access-token.js'
import {
  MalformedFrames,
  parseCallTimes,
  readRequestFrames,
  readResponseFrames
} from '../../shared/transport/call-frames.js'
import { shortened } from '../../shared/errors.js'
import { isLoopback, isPublicAddress, throttledAddress } from '../../shared/ip-address.js'
import { checkedTrace } from '../../shared/observe/tracing.js'
import { countValues, hasTooManyValues, isWithinBounds } from '../../shared/transport/json-bounds.js'
import { decodeDetails, fromStatusBytes } from '../../shared/transport/rpc-status.js'
import {
  cookiePairs,
  cookieValues,
  readSessionCookie,
  unverifiedClaims
} from '../../shared/session-cookie/read-session-cookie.js'
import { decodeBase64url } from '../../shared/base64url.js'
import { decodeBase64, requestIdOf } from '../../shared/transport/wire.js'
import { resource } from '../data-service/plan/example-entities.js'
import { boards, carts } from '../data-service/plan/owned-entities.js'
import {
  JsonNumber,
  canonicalJson,
  canonicalNumber,
  integerOf,
  jsonText,
  mergePatch,
  numberParts,
  type JsonValue
} from '../../data-service/entity/fields/json-values.js'
import { storedJson } from '../../data-service/entity/fields/json-parser.js'
import { parseDate } from '../../data-service/entity/types/date.js'
import { parseDateTime } from '../../data-service/entity/types/date-time.js'
import { isJson } from '../../data-service/entity/types/json.js'
import { parseTime } from '../../data-service/entity/types/time.js'
import { parseJson } from '../../data-service/plan/parsing/json-body.js'

const admin: Authenticated = {
  kind: 'authenticated',
  claims: {},
  issuer: 'test',
  subject: 'admin',
  roles: ['Admin'],
  permissions: new Set(),
  owner: 1n
}
const ownership = { bypassRole: 'Admin', parameterName: 'id' }
const call: PlanningContext = {
  planning: { catalogue: makeCatalogue([boards, carts]), ownership, maxPageSize: 500, maxExportRows: 1000 },
  caller: admin
}
const things = resource('things')
const FIELDS = [words(100), freeText(), bool(), int(), long(), decimal(10, 2), dateTime(), guid()]
const EVERY_FIELD: readonly Field[] = [
  ...FIELDS,
  double(),
  float(),
  date(),
  time({ precision: 3 }),
  dateTime({ precision: 6 }),
  oneOf(['a', 'b']),
  setOf(['a', 'b']),
  json({ type: 'object' }),
  binary(1000),
  longText(1000),
  unsigned(long()),
  bits(40)
]
const KEYS = [
  ...FIELDS.map((field): KeyColumns => [keyColumn(field)]),
  [keyColumn(words(100)), keyColumn(int())] as const
]
const VERSION = { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.alloc(8)] }
const listener = 'http://127.0.0.1:3000'
const vouched = { requestId: '1', traceparent: undefined, host: 'a', proto: 'http', forwardedFor: '::1', loop: 'a' }

function keyColumn(field: Field): Column {
  return { name: 'part', column: 'part', field }
}

/** Reads with a list for the faults, and asks for them all. */
function judged(read: (violations: Violations) => unknown): unknown {
  const violations = new Violations()
  const value = read(violations)
  violations.finish()
  return value
}

/** What JSON there is, or the text as the one member of a body. */
function storedOrError(text: string): unknown {
  try {
    return storedJson(text)
  } catch (error) {
    return error
  }
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(Buffer.from(text))
  } catch {
    return { id: text, title: text, price: text, [text]: new JsonNumber(`1${'0'.repeat(text.length)}1`) }
  }
}

function write(text: string): Parameters<typeof parseUpdate>[0] & { linkBase: string; action: string } {
  const body = Buffer.from(text)
  const params = { ownerParameter: text, idempotencyKey: text, strict: true, unplaced: { parameters: text.split(',') } }
  return {
    resource: 'carts',
    id: text,
    action: 'clear',
    body,
    linkBase: text,
    precondition: VERSION,
    mergePatch: false,
    dryRun: false,
    ...params
  }
}

const BATCH = { keyRequired: false, checkSize: () => undefined } as const

/** A batch of one item. */
function item(text: string): string {
  return JSON.stringify([{ id: text, rowVersion: text, title: text }])
}

type Reader = (text: string) => unknown

const OUTSIDE = outsideClaimMapping(
  {
    roleClaim: 'a',
    roles: new Map([['x', 'Clerk']]),
    permissionClaim: 'a.b',
    permissions: new Map([['x', 'products:manage']]),
    ownerClaim: 'b',
    owners: new Map([['a', 'x']]),
    inRules: ['a']
  },
  'customer_id'
)

/** Every exported reader of a client's text, called with it wherever it takes one. */
const nothing = (): void => undefined

/** A rejection of the stream's own. */
function unlessMalformed(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof MalformedFrames)) throw error
  }
}

export const READERS: Readonly<Record<string, Reader>> = {
  // gateway/http
  acceptsCsv,
  acceptsHtml,
  checkApiVersion,
  authorizationOf: (text) => authorizationOf(['Authorization', text, 'authorization', text]),
  checkBodySize,
  exportOptions: (text) => exportOptions({ bom: text, escapeFormulas: text }),
  FilterPairs: (text) => {
    const pairs = new FilterPairs()
    pairs.take({ name: text, value: text })
    for (const name of text.split('&')) pairs.take({ name: `filters[${name}].value`, value: name })
    return pairs.paired()
  },
  forwardedOrigin: (text) => forwardedOrigin({ proto: text, host: text }, listener),
  forwardedAddress,
  forwardedFor: (text) => forwardedFor({ 'x-forwarded-for': text }),
  TrustedProxies: (text) => new TrustedProxies().trusts(text),
  headerLines: (text) => headerLines(text.split(' '), 'prefer'),
  idempotencyKey: (text) => idempotencyKey([text]),
  ifMatch,
  ignoredParameters: (text) => ignoredParameters(text.replaceAll(/\p{Surrogate}/gu, '').split(',')),
  checkJsonBody: (text) => checkJsonBody(Buffer.from(text)),
  isWithinBounds: (text) => isWithinBounds(Buffer.from(text)),
  countValues: (text) => countValues(Buffer.from(text)),
  hasTooManyValues: (text) => hasTooManyValues(text),
  checkMediaType: (text) => {
    checkMediaType({ 'content-type': `application/json${text}` })
    checkMediaType({ 'content-type': text, 'content-encoding': text, 'content-length': text })
  },
  mediaTypeAmong: (text) => mediaTypeAmong({ 'content-type': `text/csv${text}` }, ['text/csv']),
  pickParameters: (text) => pickParameters(text, ['fields', 'page']),
  nameOf,
  trimOws,
  listMembers,
  splitOutsideQuotes: (text) => splitOutsideQuotes(text, ','),
  addVary: (text) => addVary(text, ['Cookie']),
  acceptedCoding,
  hasEntityTag: (text) => hasEntityTag(text, 'W/"a"'),
  originForm,
  routedTarget,
  pageLinks: (text) =>
    pageLinks(
      { url: `${listener}/things/paged`, query: text },
      [{ rel: 'next', pageNumber: '2' }],
      Number.MAX_SAFE_INTEGER
    ),
  pathOfMalformedHead: (text) => [
    pathOfMalformedHead(text, text.length),
    pathOfMalformedHead(`GET ${text}`, text.length)
  ],
  percentDecode,
  ownerOfClaim,
  preferredHandling,
  prefersRollback,
  refusesHtml,
  parseQuery,
  pathOfTarget,
  loggedPath: (text) => loggedPath(text, { withValue: false }),
  queryOf,
  checkRequestHead: (text) =>
    checkRequestHead({ method: 'GET', target: text, httpVersion: '1.1', rawHeaders: ['Host', text] }),
  checkRequestHeadSize: (text) =>
    checkRequestHeadSize({ method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: text.split(' ') }),
  isLoopback,
  requestIdOf: (text) => requestIdOf(text, () => ''),
  routeQuery: (text) => routeQuery(text, READ_ROUTES.paged, 'id'),
  continueTrace: (text) => continueTrace(text, () => ''),
  checkedTrace,
  // gateway/session
  // Its form is read by parseQuery.
  readTokenRequest: (text) => readTokenRequest(Buffer.from('grant_type=client_credentials'), `Basic ${text}`),
  jsonMembers: (text) => jsonMembers(Buffer.from(text)),
  crossSiteHeader: (text) => crossSiteHeader({ site: text, origin: text, isSafe: false }, () => listener),
  isFromAnotherOrigin,
  sentCookies,
  sentRefreshTokens,
  withoutRefreshToken,
  withSession: (text) => withSession(text, { accessToken: 'a', refreshToken: 'b' }),
  cookieViolation: (text) => cookieViolation('a', text),
  antiforgeryCookieIn,
  claimedSession,
  antiforgeryFieldIn: (text) => antiforgeryFieldIn(Buffer.from(text)),
  isPlainForm: (text) => [
    isPlainForm({ type: text, encoding: text }),
    isPlainForm({ type: `application/x-www-form-urlencoded${text}`, encoding: undefined })
  ],
  decodeSignature,
  ownPath: (text) => ownPath(`/${text}`, listener),
  // gateway/renderer
  destinationOf: (text) =>
    destinationOf(
      { method: 'GET', target: text, accept: text },
      { prefix: '', isResource: () => true, isOperation: () => false, isRead: () => false }
    ),
  downstreamHeaders: (text) =>
    downstreamHeaders(
      { connection: text, vary: text, 'set-cookie': [text, `app_auth_access${text}`] },
      { personal: true, setsCookies: true, varies: true }
    ),
  splitPath: (text) => splitPath(`/${text}`, new URL('http://renderer')),
  rendererPath: (text) => rendererPath(text, new URL(listener)),
  upstreamHeaders: (text) =>
    upstreamHeaders({ [text]: text, [`x-forwarded-${text}`]: text }, { ...vouched, cookie: text }, true),
  // shared
  verifyToken: async (text) => verifyToken(text, [], { now: Date.now }),
  verifiedToken: async (text) => verifiedToken(text, [], { now: Date.now }),
  decodeDetails: (text) => decodeDetails(Buffer.from(text)),
  fromStatusBytes: (text) => fromStatusBytes(Buffer.from(text)),
  readRequestFrames: (text) =>
    unlessMalformed(() =>
      readRequestFrames(Buffer.from(text), { credential: nothing, call: nothing, cancellation: nothing })
    ),
  readResponseFrames: (text) =>
    unlessMalformed(() =>
      readResponseFrames(Buffer.from(text), { answer: nothing, failure: nothing, unprocessed: nothing, times: nothing })
    ),
  cookiePairs,
  cookieValues: (text) => cookieValues(text, 'a'),
  readSessionCookie: (text) => [readSessionCookie(text), readSessionCookie(`app_auth_access=${text}`)],
  unverifiedClaims,
  shortened: (text) => shortened(text, 100),
  decodeBase64,
  decodeBase64url,
  // data-service/plan
  BodyFindings: (text) => {
    const findings = new BodyFindings(true)
    for (const name of text.split(',')) findings.addUnknownMember(`/${name}`)
    findings.violations.finish()
  },
  outOfBounds: (text) => outOfBounds(text, words(100)),
  fitDecimal: (text) => {
    const value = parseDecimal(text.slice(0, 4096))
    return value && fitDecimal(value, decimal(10, 2), 'floor')
  },
  parseDecimal: (text) => parseDecimal(text.slice(0, 4096)),
  parseDouble: (text) => [parseDouble(text), parseDouble(text, 'float'), parseDouble(`1.${text}`)],
  parseInteger: (text) => parseInteger(text.slice(0, 4096)),
  withoutTrailingZeros,
  Violations: (text) =>
    judged((violations) => text.split(',').forEach((name) => violations.add('fields.invalid', name, name))),
  quoted,
  JsonNumber: (text) => numberParts(new JsonNumber(text)),
  numberParts: (text) => [numberParts(new JsonNumber(`1${text}`)), numberParts(new JsonNumber(`1e${text}`))],
  canonicalNumber: (text) => canonicalNumber(new JsonNumber(text)),
  integerOf: (text) => integerOf(numberParts(new JsonNumber(text))),
  canonicalJson: (text) => canonicalJson(jsonOf(text)),
  storedJson: (text) => [text, `"${text}`, `[${text}`, JSON.stringify(text), `{"a":${text}`].map(storedOrError),
  jsonText: (text) => jsonText(jsonOf(text)),
  mergePatch: (text) => mergePatch(jsonOf(text), jsonOf(text)),
  parseJson: (text) => parseJson(Buffer.from(text)),
  checkOwnerFilter: (text) =>
    checkOwnerFilter(
      {
        resource: call.planning.catalogue.resource('carts', admin),
        route: 'list',
        id: text,
        sent: text
      },
      admin,
      ownership
    ),
  parseAct: (text) => parseAct({ ...write(text), id: '1' }, call),
  isJson,
  isTooLong,
  isCursor,
  CursorCodec: (text) => new CursorCodec({ resource: text, conditions: [], sort: [] }).decode(text),
  // A cursor has at most 1 KiB.
  isWritten: (text) => EVERY_FIELD.map((field) => isWritten(text.slice(0, 1024), field)),
  parseSearch: (text) =>
    judged((violations) => {
      const searchable = FIELDS.filter(({ type }) => type === 'string').map((field) => ({
        through: null,
        column: { name: 'a', column: 'a', field }
      }))
      return parseSearch(text, { ...things, searchable }, violations)
    }),
  missingHalf: (text) =>
    judged((violations) => [
      missingHalf(`filters[${text}].value`, things, violations),
      missingHalf(text, things, violations)
    ]),
  parseConditions: (text) =>
    judged((violations) =>
      parseConditions(
        {
          filters: ['title', 'price', 'serial', 'madeAt', 'code', 'sold', text].flatMap((property) =>
            ['equals', 'in', 'between', text].map((operator) => ({ property, operator, value: text }))
          )
        },
        things,
        violations
      )
    ),
  parseBatch: (text) => parseBatch({ ...write(text), body: Buffer.from(`[${text}]`) }, call, BATCH),
  parseUpdateBatch: (text) => parseUpdateBatch({ ...write(text), body: Buffer.from(item(text)) }, call, BATCH),
  parseDeleteBatch: (text) => parseDeleteBatch({ ...write(text), body: Buffer.from(item(text)) }, call, BATCH),
  parseIdMember: (text) =>
    judged((violations) => KEYS.map((key) => parseIdMember(text, { key }, { at: '', violations }))),
  parseCreate: (text) => parseCreate(write(text), call, false),
  parseDate,
  parseTime: (text) => [parseTime(text, 3), parseTime(`08:00:00.${text}`, 3)],
  parseDateTime: (text) => [parseDateTime(text), parseDateTime(`2026-01-31T08:00:00.${text}`)],
  parseDelete: (text) => parseDelete(write(text), call),
  parseFlag: (text) =>
    judged((violations) => parseFlag(text, { parameter: 'a', code: 'include.invalid', fallback: true }, violations)),
  parseId: (text) => judged((violations) => KEYS.map((key) => parseId(text, { key }, violations))),
  parseSearchedId: (text) => judged((violations) => KEYS.map((key) => parseSearchedId(text, { key }, violations))),
  parseUnique: (text) => judged((violations) => KEYS.flat().map((column) => parseUnique(text, column, violations))),
  compositeParts: (text) => [compositeParts(text, 2), compositeParts(text, text.split(',').length)],
  parseIdempotencyKey: (text) => judged((violations) => parseIdempotencyKey(text, true, violations)),
  parseMember: (text) => {
    const parsed = jsonOf(text)
    return EVERY_FIELD.flatMap((field) => {
      // A number of JSON has the digits of one, which the parser sees to.
      const number = field.type === 'json' ? [] : [new JsonNumber(text)]
      return [text, ...number, parsed].map((json) => parseMember(json, field))
    })
  },
  operatorNamed: (text) => operatorNamed(text, 'string'),
  parsePaging: (text) =>
    judged((violations) =>
      parsePaging(
        { pageNumber: text, pageSize: text, includeTotal: text, after: text, before: text },
        { maxPageSize: 500, cursors: undefined },
        violations
      )
    ),
  optionalVersions: (text) => optionalVersions({ kind: text, versions: [Buffer.from(text)] }),
  requiredVersions: (text) =>
    requiredVersions({ ...VERSION, versions: text.split(',').map((version) => Buffer.from(version)) }),
  parseIncludes: (text) =>
    judged((violations) => parseIncludes(text, things, { resourceOf: () => things, violations })),
  parseFields: (text) => judged((violations) => parseFields(text, things, { violations, reject: () => undefined })),
  parseShape: (text) =>
    judged((violations) =>
      parseShape({ fields: text, includeFks: text, includeChildren: text, include: text }, things, {
        resourceOf: () => things,
        violations
      })
    ),
  parseSort: (text) => judged((violations) => parseSort({ sortColumn: text, sortDirection: text }, things, violations)),
  parseOrder: (text) =>
    judged((violations) =>
      parseOrder(
        { sortColumn: text, sortDirection: text },
        { columns: new Map(), names: () => [], otherwise: [] },
        violations
      )
    ),
  parseUpdate: (text) => parseUpdate({ ...write(text), id: '1' }, call),
  parseUnusual: (text) => EVERY_FIELD.map((field) => parseUnusual(text, field)),
  parseValue: (text) => EVERY_FIELD.map((field) => parseValue(text.slice(0, 4096), field)),
  readChildren: (text) => {
    const findings = new BodyFindings(true)
    const [children] = things.entity.children
    if (children === undefined) throw new TypeError('things have parts')
    readChildren(
      { parts: [jsonOf(text)] },
      { children, min: 1, maySet: () => true, shown: children.columns, claimed: () => undefined, unreachable: [] },
      { root: '', findings }
    )
    findings.violations.finish()
  },
  readMembers: (text) => {
    const findings = new BodyFindings(false)
    readMembers(jsonOf(text), { columns: things.entity.columns, at: '', absent: 'default' }, findings)
    return findings.ignored
  },
  splitItems,
  // data-service/auth
  callerOfClaims: (text) =>
    callerOfClaims(
      { iss: 'a', sub: text, exp: 1, role: text.split(','), permissions: text.split(','), customer_id: text },
      ownClaimMapping('customer_id'),
      permissionsOf({})
    ),
  outsideClaimMapping: (text) =>
    callerOfClaims({ iss: 'a', sub: text, exp: 1, a: text.split(','), b: text }, OUTSIDE, permissionsOf({})),
  ownClaimMapping: (text) =>
    callerOfClaims(
      { iss: 'a', sub: 'b', exp: 1, customer_id: text },
      ownClaimMapping('customer_id'),
      permissionsOf({})
    ),
  checkCredentials: (text) => checkCredentials({ email: text, password: text, clientAddress: text }),
  identifyBy: async (text) => {
    const identify = identifyBy([], { ownerClaimType: 'customer_id', permissionsOf: permissionsOf({}), now: Date.now })
    await identify([`bearer ${text}`])
  },
  parseCallTimes,
  parseRefreshToken,
  isPublicAddress,
  throttledAddress
}

/** Exports that read no text of a client, or hand it on to a reader above, by the reason. */
export const NO_READERS: Readonly<Record<string, string>> = {
  'key ids of tokens, looked up as they are': 'isStillValid SingleFlight KeyCache isKeysUnavailable keysUnavailable',
  'routes and hooks, which hand header, query and body to the readers':
    'ignoreTypeOfNothing jsonOrNothing authRoutes machineTokenRoute HtmlRefresh keySetRoute ownSiteOnly exportRoute ' +
    'rejectCrossSite sendAccessToken sendJsonObject sendNoSession authCall ' +
    'sessionTools AntiforgeryCheck antiforgeryRoute forward pageSession untrustedProxyWarning ' +
    'signInRoutes callbackPageRoute oneTimeLinkPage OpenIdProvider loadOpenIdClient sendFailurePage nothingHere varyByAccept rendererProxy drainBody upstreamBody keepBodiesAsBuffers ' +
    'bodyOf isReset requireJsonBody requireJsonBodyIfAny requireJsonMediaType requireMergePatchType PublicAddress clientAddress clientAddresses announcesBody confirmDryRun',
  'texts of a fixed length after decodeSignature, parseRefreshToken or verifyToken':
    'AntiforgeryTokens checkAccessToken hashOfToken newRefreshToken refHashOf tokenKeys openSuccessor sealSuccessor writeRefreshToken ' +
    'PublishedKeys timeClaim isGenuine endReplaced logReplaced accountHash loggedAccount accountOfVerified',
  'parts of types, which parseValue, parseMember, isWritten and outOfBounds read by':
    'notTaken range outsideOfBounds amount parsedOperand textOrder isCanonical wholeNumber wholeNumberFrom between outOfIntegers integerOperand integerOperandOf integerDifference within isUnusualDate wireDigits tooFine instantOf parseWord',
  'values of rows, of entity files and for documents':
    'inQuotes plainCell never short widthOf madeInteger madeDay valueEncoder valueWriter cellWriter exampleOf statedExample',
  'what a caller may call, out of the catalogue and the token': 'allowedCalls ownsEverything',
  'answers, written from what was read':
    'KeptTexts attachmentName entityTag headerRoom paginationOf bodyViolation SessionCookies setCookie ' +
    'Unmet wordsRule integerRange conflictText parseConflict rejectionAt ' +
    'oneOfWords DomainError rejection isErrorCode errorKind httpStatusOf grpcStatusOf ' +
    'jsonArray fromRpcStatus toRpcStatus toStatusBytes transportStatusBytes transportError TokenRejected GrantRejected expected ' +
    'MessageWriter CredentialFrame CallFrame CancellationFrame UnprocessedFrame AnswerFrame FailureFrame TimesFrame MalformedFrames ' +
    'callbackPage rejectedPage signInNotValid aliasesOf operatorsOf code escapeHtml htmlPage pagePolicy link table prose toProblem unintelligible',
  'what stops a start, read from settings and files': 'StartError messageOf orStartError errorCode',
  'the order in which a server opens and closes its parts': 'lifecycle Opened',
  'the memory of the process': 'MemoryGuard processMemory memoryLimit',
  'packages that are installed': 'InnerMembers untested whatIsUntested remedyFor requireInner installedVersion',
  'settings, keys and arguments of the operator':
    'parseRateLimit parsePublicBaseUrl parseServiceUrl parseKeySet algorithmOf thumbprint ArgumentError help ' +
    'readArguments SettingsError SettingsReader redactUrl parseDuration loadProto loadMessages BrokenSockets saysTooManyReads createLogger unredacted logGrpc isRouteId ' +
    'ownerParameter TlsCertificates examineTlsFiles channelCredentials serverCredentials followFiles stateOf ' +
    'isSecureUrl warnOfClearText metadataUrl readOpenIdClient parseLogLevel readGrpcSecurity targetNameOf readAdminAddress readDataAdminAddress makeFolder keepDataPrivate',
  'names of claims that an operator gave, looked up as they are': 'isReservedClaim unreservedClaims',
  'requests and bytes that are counted and handed on':
    'PageShares RendererConnections boundResets unlessReset bytesOfHead loadOptional requireOptional installHint boundedText checkBodyLength isPreflight FairSemaphore openAdmin healthOf openMetrics openTracing readTraceSettings Tally Timings CounterFamily TimingFamily AskedFamily Turns FrameSender CallTable Deadlines CancellationSource countFor shareKeyOf shareKeysOf throwIfAborted raceAbort',
  'numbers and values that are parsed already':
    'listed parseCustom fieldOfParts isOfParts isArray isObject isMerged isWithin fitDouble shortestFloat formatDecimal unscaledAt roundedQuotient compareDecimals times sumOf lessPercent fitsDigits',
  'callers, rows and columns':
    'authorizeWrite readableRows referenceableRows readableByReference requireOperation requireBatch requireImports takesImports rowReader batchesOf checkItemOwners authorizeOperation parseBody patchOf requireUpdateBy updatesBy foreignRow writeScope outsideScope claimedColumn broughtAlong ' +
    'rangeOf keyOfId isKey isKeyed keyed isComposite compositeId idOf idText keyOfValues keyMaker unreachableIds mergedValues claimedOwner assignments storedValue namedValues completeRow withheldValues permissionsIn permissionsOf login'
}
