import { batchBody, RowCount, writeBody } from './bodies.js'
import type { TypedRpc } from './generic.js'
import { type KeyedTypes, ownerFields, uniqueFields } from './rows.js'
import { type EnumType, type FieldSpec, makeEnum, makeMessage, protoFieldName, unspecified } from './schema.js'
import { commonOf, IGNORED, NO_JSON, REPLAYED, STRICT, withBody } from './typed-writes.js'
import { type Message, scalarText } from './values.js'

const count = (key: string, comment: string): FieldSpec => ({ key, type: 'int32', label: 'plain', comment })
const flag = (key: string, comment: string): FieldSpec => ({ key, type: 'bool', label: 'plain', comment })
const continuation = (comment: string): FieldSpec => ({ key: 'continuation', type: 'bytes', label: 'plain', comment })

/** New rows out of a file, in parts: each call has the next rows. */
export function importRpc(types: KeyedTypes): TypedRpc {
  const { numbers, resource, row, plural } = types
  const name = `Import${plural}`
  const rows = protoFieldName(plural)
  const onError = makeEnum(
    numbers,
    { name: `${name}Request.OnError`, comment: 'What happens at a row that cannot be created.' },
    ['stop', 'skip']
  )
  const settable = (key: string): boolean =>
    (resource.properties ?? []).some((one) => one.name === key && one.setOnCreate === true)
  const unique = uniqueFields(types).flatMap(({ key }) => (settable(key) ? [key] : []))
  const by =
    unique.length === 0
      ? undefined
      : makeEnum(numbers, { name: `${name}Request.By`, comment: 'A property whose values name rows.' }, unique)
  const error = makeMessage(numbers, { name: `${name}Response.Error`, comment: 'What is wrong with a row.' }, [
    count('row', 'The place of the row in the file, counted from 1.'),
    { key: 'code', type: 'string', label: 'plain', comment: 'A code of the error catalogue.' },
    { key: 'detail', type: 'string', label: 'plain', comment: 'What is wrong, for people.' },
    { key: 'pointer', type: 'string', label: 'plain', comment: 'JSON pointer into the row; empty for the whole row.' }
  ])
  return {
    name,
    comment:
      'New rows out of a file, part by part in the order of the file. A call that is repeated writes no row twice.',
    resource: types.name,
    generic: 'Import',
    request: makeMessage(
      numbers,
      {
        name: `${name}Request`,
        comment: `Request of ${name}.`,
        nested: [onError, ...(by === undefined ? [] : [by])]
      },
      [
        {
          key: rows,
          type: row.message.name,
          label: 'repeated',
          comment: 'At most 500 rows, in the order of the file.'
        },
        count('first_row', 'How many rows of the file come before these.'),
        {
          key: 'on_error',
          type: onError.name,
          label: 'plain',
          comment:
            'Stop, which it is where it is not set: nothing of the file stays, which has at most 10,000 rows. Skip: the other ' +
            'rows are created, of at most 1,000,000.'
        },
        ...(by === undefined
          ? []
          : [
              {
                key: 'by',
                type: by.name,
                label: 'plain' as const,
                comment: 'A row whose value of it is there already is left alone.'
              }
            ]),
        {
          key: 'idempotency_key',
          type: 'string',
          comment:
            'Required: one key for the whole file, the same in all of its calls. 1 to 255 visible ASCII characters.'
        },
        STRICT,
        flag('more', 'Whether more parts follow. Stop writes its rows in the call that says no.'),
        continuation('What the call before it answered; empty in the first call.'),
        {
          key: 'max_errors',
          type: 'int32',
          comment: 'The most errors that the answer may have; 1,000 without it, the most.'
        },
        flag(
          'forget',
          'Ends a file, with no rows and with more: what was kept of it is deleted, and nothing is created.'
        ),
        ...ownerFields(resource)
      ]
    ),
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.`, nested: [error] }, [
      count('created', 'Rows that were created by this call.'),
      count('existing', 'Rows that were left alone, since their value of by was there already.'),
      count('failed', 'Rows that could not be created.'),
      count('created_before', 'Rows that an earlier call with the same key has created.'),
      { key: 'errors', type: error.name, label: 'repeated', comment: 'In the order of the rows.' },
      IGNORED,
      continuation('For the next call of the file; empty with skip.'),
      REPLAYED
    ]),
    streams: false,
    async handle(generic, context, request) {
      const messages = (request[rows] ?? []) as readonly Message[] // Of our own codec.
      const counted = new RowCount()
      counted.add(messages.length)
      const bodies = messages.map((one) => writeBody(row, one, { rows: counted }))
      const { unused, dryRun: _, ...common } = commonOf(request)
      const word = (type: EnumType | undefined, field: string): string | undefined => {
        const value = request[field]
        if (type === undefined || value === undefined) return undefined
        const isSet = scalarText(value) !== unspecified(type)
        // A number that the enum does not have is passed on, and is rejected as no word.
        return isSet ? (type.words.find((one) => one.name === value)?.word ?? scalarText(value)) : undefined
      }
      const [mode, property] = [word(onError, 'on_error'), word(by, 'by')]
      const { max_errors: maxErrors, continuation: given } = request
      const firstRow = Number(request['first_row'] ?? 0)
      const call = {
        resource: types.name,
        // A row with a text that is no JSON is none. `withBody` names the text.
        rows: bodies.map(({ text, malformed }) => (malformed.length === 0 ? Buffer.from(text) : NO_JSON)),
        firstRow,
        more: request['more'] === true,
        forget: request['forget'] === true,
        continuation: Buffer.isBuffer(given) ? given : Buffer.alloc(0),
        ...(mode === undefined ? {} : { onError: mode }),
        ...(property === undefined ? {} : { by: property }),
        ...(maxErrors === undefined ? {} : { maxErrors: Number(maxErrors) }),
        ...common
      }
      const answer = await withBody(batchBody(bodies, firstRow), () => generic.Import(context, call))
      const { created, existing, failed, createdBefore, errors, replayed, ignoredMembers = [] } = answer
      return {
        created,
        existing,
        failed,
        created_before: createdBefore,
        errors,
        ignored_members: [...ignoredMembers, ...unused],
        continuation: answer.continuation,
        replayed
      }
    }
  }
}
