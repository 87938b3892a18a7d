import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { defineEvent, onEvent, type OutboxTarget, webhook } from '../../../data-service/entity/event.js'
import { int, readOnly, text } from '../../../data-service/entity/fields/words.js'
import type { HookWords, UntypedHook } from '../../../data-service/entity/hooks.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

const thingMade = defineEvent<{ name: string }>('thing-made')

/** What is said of hooks, and of handlers beside them. */
function mistakes(
  hooks: (words: HookWords<object>) => readonly UntypedHook[],
  outbox: readonly OutboxTarget[] = []
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
    checkCatalogue([entity], { permissions: ['things:manage'], hasSecondStore: false, outbox })
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
      'things: it emits `thing-made`, for which `outbox` of the application has no handler and no webhook.'
    ])
    const other = onEvent(defineEvent('thing-mad'), nothing)
    expect(mistakes(emitting, [other])).to.deep.equal([
      'things: it emits `thing-made`, for which `outbox` of the application has no handler and no webhook. Did you mean "thing-mad"?',
      'outbox: no entity emits `thing-mad`. Did you mean "thing-made"?'
    ])
    expect(mistakes(() => [], [handler])).to.deep.equal(['outbox: no entity emits `thing-made`.'])
  })

  it('takes a webhook for a handler, and tells of webhooks that have no place or no event', () => {
    const hook = (name: string, events: Parameters<typeof webhook>[0]['events'] = [thingMade]) =>
      webhook({ name, events, url: 'https://a.example', secret: { setting: 'A_SECRET' } })
    expect(mistakes(emitting, [hook('one'), hook('two')])).to.deep.equal([])
    expect(mistakes(emitting, [handler, webhook({ ...hook('one'), name: 'webhook' })])).to.deep.equal([])
    expect(
      mistakes(emitting, [hook('one'), hook('one'), hook('Two'), hook('three', []), hook('f'.repeat(90))])
    ).to.deep.equal([
      'outbox: two webhooks have the name `one`; give each its own `name`.',
      'outbox: webhook `Two`: the name must be kebab-case such as `accounting`.',
      'outbox: webhook `three`: it has no events.',
      `outbox: webhook \`${'f'.repeat(90)}\`: its name and that of an event have more than 99 characters.`
    ])
    expect(
      mistakes(emitting, [hook('one', [thingMade, thingMade, defineEvent('thing-gone'), defineEvent('thing-made')])])
    ).to.deep.equal([
      'outbox: no entity emits `thing-gone`. Did you mean "thing-made"?',
      'outbox: `thing-made` is defined twice; define it once and import it.',
      'outbox: webhook `one`: `thing-made` is there twice.'
    ])
  })

  it('meets no webhook without its words, which is none from the start', () => {
    const sound = { events: [thingMade], url: 'https://a.example', secret: 'whsec_' }
    expect(webhook(sound).name).to.equal('webhook')
    // As an application without a compiler.
    const made = (definition: object): unknown => webhook(definition as typeof sound)
    for (const [wrong, message] of [
      [{ ...sound, url: undefined }, '`url` is undefined; it has to be a text or an object.'],
      [{ events: [thingMade], url: 'https://a.example' }, '`secret` is undefined; it has to be a text or an object.'],
      [{ ...sound, secret: {} }, '`setting` is undefined; it has to be a text.'],
      [{ ...sound, event: thingMade }, 'there is no `event`. Did you mean "events"?']
    ] as const) {
      expect(() => made(wrong), message).to.throw(TypeError, `webhook(…): ${message}`)
    }
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
