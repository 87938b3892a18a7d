import { everyone, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { generated, guid, int, long, oneOf, readOnly, setOf, text } from '../../data-service/entity/fields/words.js'
import { preset } from '../../data-service/entity/preset.js'
import type { Caller } from '../../cli/public/uniform-rest.js'

// Presets in an entity file. Each `@ts-expect-error` is a test: the compiler reports the line when what follows compiles
// after all.

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  preset(guid(), ({ caller }) => caller.claims['tenant']),
  preset(text(60), ({ caller }) => caller.subject),
  preset(long(), ({ caller }) => caller.owner),
  preset(oneOf(['desk', 'phone']), ({ caller }) => (caller.roles.includes('Desk') ? 'desk' : 'phone')),
  preset(setOf(['new', 'used']), () => ['new'] as const),
  defineEntity({
    name: 'things',
    description: 'Things.',
    fields: { id: readOnly(int()), name: text(60), author: preset(text(60), ({ caller }) => caller.subject) },
    label: 'name',
    filterable: [],
    sortable: [],
    access: { read: everyone, write: permission('things:manage') },
    writes: ['create', 'update'],
    creates: { prepare: ({ input }) => (input.author.length > 1 ? { values: {} } : { values: {} }) }
  })
]

/** What several rules share takes the caller by its name. */
const tenantOf = ({ claims }: Caller): string => String(claims['tenant'])
const isDesk = (caller: Caller): boolean => caller.hasBypassRole || caller.owners['desk'] !== undefined

export const soundWithCaller = [
  preset(text(60), ({ caller }) => tenantOf(caller)),
  defineEntity({
    name: 'things',
    description: 'Things.',
    fields: { id: readOnly(int()), name: text(60) },
    label: 'name',
    filterable: [],
    sortable: [],
    access: ({ rows }) => ({
      read: rows(({ caller, where }) => (isDesk(caller) ? 'all' : where('name', 'equals', tenantOf(caller)))),
      write: permission('things:manage')
    }),
    writes: ['create', 'update', 'delete'],
    creates: { prepare: ({ caller }) => ({ values: isDesk(caller) ? {} : { name: tenantOf(caller) } }) },
    updates: ({ caller }) => (isDesk(caller) ? {} : {}),
    deletes: { rule: ({ caller }) => (isDesk(caller) ? {} : {}) }
  })
]

// @ts-expect-error a rule cannot change who calls
export const changed = (caller: Caller): string => (caller.subject = 'another')

export const mistakes = [
  // @ts-expect-error a text is no number
  preset(text(60), () => 7),
  // @ts-expect-error a number is no text
  preset(int(), ({ caller }) => caller.subject),
  // @ts-expect-error no word of the enum
  preset(oneOf(['desk', 'phone']), () => 'letter'),
  // @ts-expect-error the database alone sets it
  preset(generated(text(60)), () => 'x')
]
