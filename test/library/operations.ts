import {
  authenticated,
  binary,
  bool,
  dateTime,
  decimal,
  defaultTo,
  defineOperation,
  described,
  everyone,
  int,
  json,
  list,
  long,
  object,
  optional,
  permission,
  reject,
  requiredNullable,
  setOf,
  text
} from 'uniform-rest'
import { colour, swatches } from './swatches.js'

// Operations beside the uniform ones.

const branchSummary = defineOperation({
  name: 'branch-summary',
  route: 'GET /reports/branches/{branchId}',
  description: 'The paints of a branch, as the caller sees them.',
  access: authenticated,
  path: { branchId: int({ min: 1 }) },
  query: {
    since: described('Only paints mixed at or after it.', optional(dateTime())),
    tint: optional(colour()),
    most: defaultTo(int({ min: 1, max: 50 }), 10)
  },
  answer: {
    branchId: int(),
    count: int(),
    exact: long(),
    cheapest: optional(decimal(8, 2)),
    newest: object({ name: text(60), mixedAt: dateTime(), tags: list(text(5)) }),
    swatches: list({ id: int(), name: text(60), colour: colour(), price: decimal(8, 2) }, { max: 50 })
  },
  async handle({ path: { branchId }, query: { since, tint, most }, rows, caller, log }) {
    const found = await rows(swatches).list({
      where: ({ where, allOf }) =>
        allOf(
          where('branchId', 'equals', branchId),
          since === null ? 'all' : where('mixedAt', 'is on or after', since),
          tint === null ? 'all' : where('colour', 'equals', tint)
        ),
      sort: ['-mixedAt'],
      limit: most
    })
    log.info({ branchId, subject: caller.subject }, 'branch summed up')
    const [newest] = found
    if (newest === undefined) return reject.notFound('The branch has no paints.')
    const prices = found.map(({ price }) => price).toSorted((a, b) => Number(a) - Number(b))
    return {
      branchId,
      count: await rows(swatches).count({ where: ({ where }) => where('branchId', 'equals', branchId) }),
      exact: '9007199254740993',
      cheapest: prices[0] ?? null,
      // A whole row: members that the answer does not name stay here.
      newest: { ...newest, tags: ['a', 'b'] },
      swatches: found
    }
  }
})

const colourUse = defineOperation({
  name: 'colour-use',
  route: 'GET /reports/colours',
  description: 'How often each colour is used, in all branches.',
  access: everyone,
  query: { least: defaultTo(decimal(8, 2), '0.00'), word: optional(text(20)), from: optional(dateTime()) },
  answer: list({ colour: colour(), swatches: int(), total: decimal(12, 2), first: dateTime() }),
  handle: ({ query: { least, word, from }, select }) =>
    select(
      'SELECT colour, COUNT(*), SUM(price), MIN(mixed_at) FROM swatches ' +
        'WHERE price >= $least AND ($word IS NULL OR name = $word) AND mixed_at >= $from ' +
        'GROUP BY colour ORDER BY colour',
      { least: [decimal(8, 2), least], word, from: [dateTime(), from ?? '2000-01-01T00:00:00.000Z'] },
      { colour: colour(), swatches: int(), total: decimal(12, 2), first: dateTime() }
    )
})

const repaint = defineOperation({
  name: 'repaint',
  route: 'POST /reports/repaints',
  description: 'Gives some paints another colour, and mixes a new one.',
  access: permission('library:manage'),
  query: { dryRun: defaultTo(text(5), 'no') },
  body: {
    to: colour(),
    ids: list(int({ min: 1 }), { min: 1, max: 3 }),
    note: requiredNullable(text(20)),
    layers: defaultTo(int(), 2),
    extra: list({ name: text(10), price: decimal(8, 2) }),
    place: object({ branchId: int(), shelf: optional(text(5)) })
  },
  answer: { changed: int(), made: list(int()), note: optional(text(20)), total: int() },
  status: 201,
  async handle({ body: { to, ids, note, extra, place }, now, getAggregate, write, unscopedRows }) {
    for (const id of ids) {
      if ((await getAggregate('swatches', id)) === undefined)
        return reject.input(`/ids/${ids.indexOf(id)}`, `There is no swatch ${id}.`)
    }
    const made = await write({
      update: ids.map((id) => ({ resource: 'swatches', id, set: { colour: to } })),
      create: extra.map(({ name, price }) => ({
        resource: 'swatches',
        values: { name, price, colour: to, mixedAt: now, branchId: place.branchId }
      }))
    })
    // It sees what the transaction has written.
    const total = await unscopedRows(swatches).count({ where: ({ where }) => where('colour', 'equals', to) })
    return { changed: ids.length, made: made.map(Number), note, total }
  }
})

const answerBadly = defineOperation({
  name: 'answer-badly',
  route: 'PUT /reports/branches/{branchId}',
  description: 'Changes a paint and then fails in a way that the body names.',
  access: authenticated,
  path: { branchId: int() },
  body: { how: text(20) },
  answer: { name: text(5) },
  async handle({ body: { how }, path: { branchId }, run, caller, signal }) {
    const changed = await run(
      "UPDATE swatches SET name = $name, row_version = X'0000000000000001' WHERE branch_id = $branchId",
      {
        name: caller.subject,
        branchId
      }
    )
    if (changed === 0) return reject.notFound('There is no such branch.')
    switch (how) {
      case 'state':
        return reject.state('The branch is closed.')
      case 'thrown': {
        const thrown: unknown = reject.state('The branch is closing.')
        throw thrown
      }
      case 'conflict':
        return reject.conflict('Being painted', 'Somebody paints it.', { painter: 'Ann' })
      case 'input':
        return reject.input('/how', 'Not so.')
      case 'parameter':
        return reject.parameter('branchId', 'Not that one.')
      case 'long':
        return { name: 'longer than five' }
      case 'error':
        throw new Error('SELECT secret FROM swatches')
      case 'hang':
        await new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 60_000).unref()))
        return { name: 'late' }
      case 'select':
        await run('SELECT 1', {})
        return { name: 'no' }
      default:
        return { name: how }
    }
  }
})

const clearOut = defineOperation({
  name: 'clear-out',
  route: 'DELETE /reports/branches/{branchId}',
  description: 'Removes the paints of a branch.',
  access: permission('library:manage'),
  path: { branchId: int() },
  async handle({ path: { branchId }, run }) {
    await run('DELETE FROM swatches WHERE branch_id = $branchId', { branchId })
  }
})

const slow = defineOperation({
  name: 'slow',
  route: 'GET /reports/slow',
  description: 'Never answers by itself.',
  access: everyone,
  answer: { never: int() },
  handle: () => new Promise<never>(() => undefined)
})

const recipes = defineOperation({
  name: 'recipes',
  route: 'GET /reports/recipes/{id}',
  description: 'What the hidden column of a paint holds.',
  access: everyone,
  path: { id: int() },
  answer: { one: optional(text(40)), found: list(text(40)), seen: list(text(40)), has: bool() },
  async handle({ path: { id }, unscopedRows, rows }) {
    const all = unscopedRows(swatches)
    const found = await all.list({ where: ({ where }) => where('id', 'equals', id) })
    const [seen] = await rows(swatches).list()
    return {
      one: (await all.get(id))?.recipe ?? null,
      found: found.flatMap(({ recipe }) => recipe ?? []),
      seen: Object.keys(seen ?? {}),
      has: found.every((row) => 'recipe' in row && 'cost' in row)
    }
  }
})

const cheat = defineOperation({
  name: 'cheat',
  route: 'GET /reports/cheat',
  description: 'Tries to change something in a read.',
  access: everyone,
  answer: { rows: int() },
  async handle({ select }) {
    await select("UPDATE swatches SET name = 'x'", {}, { rows: int() })
    return { rows: 0 }
  }
})

const echo = defineOperation({
  name: 'echo',
  route: 'POST /reports/echoes',
  description: 'Answers values that are neither text nor numbers.',
  access: authenticated,
  body: {
    words: setOf(['matt', 'gloss']),
    bytes: binary(4),
    none: optional(binary(4)),
    value: json(),
    all: list(binary(4))
  },
  answer: {
    words: setOf(['matt', 'gloss']),
    bytes: binary(2),
    none: optional(binary(4)),
    value: json(),
    all: list(binary(4)),
    no: optional(setOf(['matt']))
  },
  handle: ({ body }) => ({ ...body, no: null })
})

export const operations = [branchSummary, colourUse, repaint, answerBadly, clearOut, slow, cheat, recipes, echo]
