import { Button, Paper, Typography } from '@mui/material'
import type { AnyApplication, UniformRestDataProvider } from '@uniform-rest/react-admin'
import type { ReactElement } from 'react'
import { Form, required, SaveButton, TextInput, Title } from 'react-admin'
import { type Catalogue, type Resource, titleOf } from './catalogue.js'
import { CHOSEN_COLUMNS } from './columns.js'
import { inputOf } from './inputs.js'
import { inWords } from './words.js'

/** The data provider of an application that is known from its catalogue alone. */
export type AdminDataProvider = UniformRestDataProvider<AnyApplication>

/**
 * The key under which the filter of a list, and so its address, holds the owner that was chosen. No property has such a name.
 */
export const CHOSEN_OWNER = '@owner'

/** In place of an owner: the rows of all of them. */
export const EVERY_OWNER = '*'

/** Whether the caller, who may name any owner, says whose rows are meant before a list is asked for. */
export function isOwnerChosen({ ownerFiltered }: Resource, { everyOwner }: Catalogue): boolean {
  return everyOwner && ownerFiltered.includes('paged')
}

/** The filter that lists hold, in the parameters of a list or of an export. */
interface Filtered {
  readonly filter?: unknown
  readonly meta?: unknown
}

/** The data provider, for lists and exports of the owner that their filter names. */
export function ofChosenOwner(provider: AdminDataProvider, catalogue: () => Catalogue): AdminDataProvider {
  const placed = <Params extends Filtered>(resource: string, params: Params): Params => {
    const {
      [CHOSEN_OWNER]: owner,
      [CHOSEN_COLUMNS]: _columns,
      ...filter
    } = (params.filter ?? {}) as Readonly<Record<string, unknown>>
    const name = catalogue().find(resource)?.ownerParameter
    if (owner === undefined || owner === EVERY_OWNER || name === undefined) return { ...params, filter }
    return { ...params, filter, meta: { ...(params.meta as object | undefined), parameters: { [name]: owner } } }
  }
  return {
    ...provider,
    getList: (resource, params) => provider.getList(resource, placed(resource, params)),
    exportCsv: (resource, params = {}) => provider.exportCsv(resource, placed(resource, params))
  }
}

/**
 * `fetch` for callers who may name one owner alone, their own: it is added to each request that takes an owner parameter,
 * writes included.
 */
export function fetchAsOwner(baseUrl: string, catalogue: () => Catalogue): typeof fetch {
  return (input, init) => {
    const { owner, everyOwner } = catalogue()
    if (typeof input !== 'string' || owner === '' || everyOwner) return fetch(input, init)
    const url = new URL(input)
    const [name = '', ...below] = url.pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length + 1).split('/')
    const resource = catalogue().find(name)
    const operation = operationOf(init?.method ?? 'GET', below)
    if (resource?.ownerFiltered.includes(operation) === true && !url.searchParams.has(resource.ownerParameter)) {
      url.search += `${url.search === '' ? '?' : '&'}${encodeURIComponent(resource.ownerParameter)}=${owner}`
    }
    return fetch(url, init)
  }
}

const WRITES: Readonly<Record<string, string>> = { PUT: 'update', PATCH: 'update', DELETE: 'delete' }

/** The operation of a request, as the catalogue calls it, by its method and the path below the resource. */
function operationOf(method: string, [first, second]: readonly string[]): string {
  if (first === 'batch' && method === 'PATCH') return 'update'
  if (first === 'import' && method === 'POST') return 'create'
  if (second !== undefined) return first === 'batch' ? 'delete' : method === 'GET' ? 'get' : 'act'
  if (first === undefined) return method === 'GET' ? 'list' : 'create'
  if (['paged', 'export', 'lookup', 'totals', 'batch'].includes(first)) return first
  return WRITES[method] ?? 'get'
}

interface OwnerChoiceProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
  readonly onChoose: (owner: string) => void
}

/** What stands in place of a list until its owner is chosen. */
export function OwnerChoice({ resource, catalogue, onChoose }: OwnerChoiceProps): ReactElement {
  const { ownerParameter, ownerProperty, properties } = resource
  const property = properties.find((one) => one.name === ownerProperty)
  const source = property?.name ?? ownerParameter
  const own = property?.type === 'int' ? Number(catalogue.owner) : catalogue.owner
  return (
    <Paper sx={{ p: 2, mt: 2, maxWidth: '32rem' }}>
      <Title title={titleOf(resource)} />
      <Typography variant="h6" component="h2">
        Whose rows?
      </Typography>
      <Form
        record={catalogue.owner === '' ? {} : { [source]: own }}
        onSubmit={(values: Readonly<Record<string, unknown>>) => onChoose(String(values[source]))}
      >
        {property === undefined ? (
          <TextInput source={source} label={inWords(source)} validate={required()} />
        ) : (
          inputOf(property, { isRequired: true, of: { owner: resource, catalogue } })
        )}
        <SaveButton label="Show" alwaysEnable icon={<></>} />
        <Button onClick={() => onChoose(EVERY_OWNER)} sx={{ ml: 1 }}>
          Rows of every owner
        </Button>
      </Form>
    </Paper>
  )
}
