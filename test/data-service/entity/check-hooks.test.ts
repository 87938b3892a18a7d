import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { defineEvent, type EventHandler, onEvent } from '../../../data-service/entity/event.js'
import { int, readOnly, text } from '../../../data-service/entity/fields/words.js'
import type { HookWords, UntypedHook } from '../../../data-service/entity/hooks.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

const thingMade = defineEvent<{ name: string }>('thing-made')

/** What is said of hooks, and of handlers beside them. */
function mistakes(
  hooks: (words: HookWords<object>) => readonly UntypedHook[],
  handlers: readonly EventHandler[] = []
): string[] {
  const entity = defineEntity({
    name: 'things',
    description: '',
    fields: { id: readOnly(int()), name: text(5) },
    label: 'name',
    filterable: [],
    sortable: [],
    access: { read: everyone, write: permission('things:manage') },
    writes: ['create', 'update'],
    actions: (action) => ({ sell: action({ description: 'Sells it.', effect: {} }) }),
    hooks
  })
  try {
    checkCatalogue([entity], { permissions: ['things:manage'], hasSecondStore: false, handlers })
    return []
  } catch (error) {
    if (error instanceof CatalogueError) return [...error.mistakes]
    throw error
  }
}

const nothing = (): undefined => undefined
const handler = onEvent(thingMade, nothing)
const emitting: Parameters<typeof mistakes>[0] = ({ emit }) => [emit(thingMade, { on: ['create'], payload: nothing })]

describe('checkCatalogue of hooks and of the outbox', () => {
  it('passes what is sound', () => {
    expect(mistakes(() => [])).to.deep.equal([])
    expect(
      mistakes(
        ({ beforeCommit, emit }) => [
          beforeCommit({ on: ['create', 'update', 'sell'], run: nothing }),
          beforeCommit({ on: 'any', readBefore: true, run: nothing }),
          emit(thingMade, { on: ['create'], payload: nothing }),
          emit(thingMade, { on: ['sell'], payload: nothing })
        ],
        [handler]
      )
    ).to.deep.equal([])
  })

  it('tells of writes that the entity does not have, and of none', () => {
    expect(
      mistakes(({ beforeCommit }) => [
        beforeCommit({ on: ['sel', 'delete'], run: nothing }),
        beforeCommit({ on: [], run: nothing })
      ])
    ).to.deep.equal([
      'things: beforeCommit: `sel` is no write or action. Did you mean "sell"?',
      'things: beforeCommit on `delete` without `delete` among writes.',
      'things: beforeCommit is on no write and never runs.'
    ])
  })

  it('tells of a type without a handler, and of a handler without a type', () => {
    expect(mistakes(emitting)).to.deep.equal([
      'things: it emits `thing-made`, for which `outbox` of the application has no handler.'
    ])
    const other = onEvent(defineEvent('thing-mad'), nothing)
    expect(mistakes(emitting, [other])).to.deep.equal([
      'things: it emits `thing-made`, for which `outbox` of the application has no handler. Did you mean "thing-mad"?',
      'outbox: no entity emits `thing-mad`. Did you mean "thing-made"?'
    ])
    expect(mistakes(() => [], [handler])).to.deep.equal(['outbox: no entity emits `thing-made`.'])
  })

  it('tells of two handlers of a type, and of a type that is defined twice', () => {
    expect(mistakes(emitting, [handler, onEvent(thingMade, nothing)])).to.deep.equal([
      'outbox: `thing-made` has two handlers.'
    ])
    expect(mistakes(emitting, [onEvent(defineEvent('thing-made'), nothing)])).to.deep.equal([
      'outbox: `thing-made` is defined twice; define it once and import it.'
    ])
  })

  it('tells of names that are none', () => {
    for (const name of ['ThingMade', 'thing made', `thing-${'x'.repeat(100)}`]) {
      const odd = defineEvent(name)
      const hooks: Parameters<typeof mistakes>[0] = ({ emit }) => [emit(odd, { on: ['create'], payload: nothing })]
      expect(mistakes(hooks, [onEvent(odd, nothing)]), name).to.have.length(1)
    }
  })
})
