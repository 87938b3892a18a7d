import { Button } from '@mui/material'
import { type ReactElement, type ReactNode, useEffect, useState } from 'react'
import {
  ArrayInput,
  Create,
  Edit,
  type RaRecord,
  SaveButton,
  SaveContextProvider,
  SimpleForm,
  SimpleFormIterator,
  Toolbar,
  useDataProvider,
  useEditContext,
  useNotify,
  useRecordContext,
  useRedirect,
  useRefresh,
  useSimpleFormIterator
} from 'react-admin'
import { type Catalogue, type Navigation, type Resource, type Row, settableProperties, titleOf } from './catalogue.js'
import { type Conflict, ConflictDialog, conflictOf, errorsOf } from './conflict.js'
import { inputOf } from './inputs.js'
import type { AdminDataProvider } from './owner.js'
import { inWords, singular } from './words.js'

interface FormProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

interface CheckButtonProps {
  /** Tries what the form says. Resolves with the messages by field. */
  readonly check: (values: Row) => Promise<object>
  readonly disabled?: boolean
}

/** Sends a valid form as a dry run. */
export function CheckButton({ check, disabled = false }: CheckButtonProps): ReactElement {
  return (
    // The button takes what it does from the context. That of the form saves, and keeps what is answered as the row.
    <SaveContextProvider value={{ save: check }}>
      <SaveButton
        type="button"
        label="Check"
        variant="text"
        icon={<></>}
        alwaysEnable={!disabled}
        disabled={disabled}
      />
    </SaveContextProvider>
  )
}

interface FormToolbarProps {
  /** The write as a dry run. */
  readonly attempt: (values: Row, row: RaRecord | undefined) => Promise<unknown>
  /**
   * Whether the caller may call the batch of the write. Where a file replaces the write without it there is none: such a
   * write may not look at dry runs, and be done.
   */
  readonly takesBatches: boolean
}

/** The buttons below a form. */
function FormToolbar({ attempt, takesBatches }: FormToolbarProps): ReactElement {
  const notify = useNotify()
  const row = useRecordContext()
  const check = async (values: Row): Promise<object> => {
    try {
      await attempt(values, row)
      notify('This can be saved. Nothing was saved yet.', { type: 'info' })
      return {}
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), { type: 'error' })
      return errorsOf(error)
    }
  }
  return (
    <Toolbar sx={{ gap: 1, bgcolor: 'background.default' }}>
      <SaveButton />
      {takesBatches && <CheckButton check={check} />}
    </Toolbar>
  )
}

/** The form of a new row, with the children that are created with it. */
export function EntityCreate({ resource, catalogue }: FormProps): ReactElement {
  const of = { owner: resource, catalogue }
  const children = resource.navigations.filter(({ name }) => resource.createdChildren.includes(name))
  const settable = settableProperties(resource, 'setOnCreate')
  const provider = useDataProvider<AdminDataProvider>()
  const attempt = (values: Row): Promise<unknown> =>
    provider.create(resource.name, { data: withoutNothing(values, resource), meta: { dryRun: true } })
  return (
    <Create
      title={`New: ${titleOf(resource)}`}
      redirect="show"
      transform={(data: Row) => withoutNothing(data, resource)}
    >
      <SimpleForm toolbar={<FormToolbar attempt={attempt} takesBatches={catalogue.allows(resource.name, 'batch')} />}>
        {settable.map((property) => inputOf(property, { isRequired: property.requiredOnCreate, isNew: true, of }))}
        {children.map((navigation) => (
          <ChildInputs key={navigation.name} navigation={navigation} catalogue={catalogue} />
        ))}
      </SimpleForm>
    </Create>
  )
}

interface ChildInputsProps {
  readonly navigation: Navigation
  readonly catalogue: Catalogue
}

function ChildInputs({ navigation, catalogue }: ChildInputsProps): ReactElement {
  const { name } = navigation
  return (
    <ArrayInput source={name} label={inWords(name)}>
      <SimpleFormIterator inline disableReordering addButton={<AddButton name={name} />}>
        {settableProperties(navigation, 'setOnCreate').map((property) =>
          inputOf(property, {
            isRequired: property.requiredOnCreate,
            isNew: true,
            of: { owner: navigation, catalogue }
          })
        )}
      </SimpleFormIterator>
    </ArrayInput>
  )
}

/** `Add line` to the lines. */
function AddButton({ name }: { readonly name: string }): ReactElement {
  const { add } = useSimpleFormIterator()
  return (
    <Button size="small" onClick={() => add()}>
      Add {singular(inWords(name).toLowerCase())}
    </Button>
  )
}

/** What was left empty is left out, so that it takes its default. */
function withoutNothing(data: Row, { properties, writeOnly }: Resource): Row {
  const nullable = new Set([...properties, ...writeOnly].filter((one) => one.nullable).map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(data).filter(([name, value]) => value !== undefined && (value !== null || nullable.has(name)))
  )
}

/** What no answer has is empty in the form of a row, and left as it is where nothing was typed. */
function withoutUntyped(data: Row, { writeOnly }: Resource): Row {
  const names = new Set(writeOnly.map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(data).filter(([name, value]) => (value !== null && value !== '') || !names.has(name))
  )
}

/** The form of a row. A save that comes too late shows both sides, and saves what the user chooses. */
export function EntityEdit({ resource, catalogue }: FormProps): ReactElement {
  const { name } = resource
  const provider = useDataProvider<AdminDataProvider>()
  const notify = useNotify()
  const redirect = useRedirect()
  const refresh = useRefresh()
  const [conflict, setConflict] = useState<Conflict>()
  const onError = (error: unknown): void => {
    const found = conflictOf(error)
    if (found?.isStale === true) setConflict(found)
    else notify(error instanceof Error ? error.message : String(error), { type: 'error' })
  }
  const leave = (id: RaRecord['id'] | undefined): void => {
    setConflict(undefined)
    redirect('show', name, id)
    refresh()
  }
  const saveChoice = async (chosen: Row): Promise<void> => {
    const current = conflict?.current as RaRecord // there is one where there is a choice
    setConflict(undefined)
    try {
      await provider.update(name, { id: current.id, data: chosen, previousData: current })
      notify('Saved', { type: 'success' })
      leave(current.id)
    } catch (error) {
      onError(error)
    }
  }
  const attempt = async (values: Row, row: RaRecord | undefined): Promise<unknown> => {
    if (row === undefined) return undefined
    const data = withoutUntyped(values, resource)
    return provider.update(name, { id: row.id, data, previousData: row, meta: { dryRun: true } })
  }
  const settable = settableProperties(resource, 'setOnUpdate')
  return (
    <>
      <Edit
        mutationMode="pessimistic"
        redirect="show"
        transform={(data: Row) => withoutUntyped(data, resource)}
        // The form keeps the row that it was opened with, whose version is sent.
        queryOptions={{ refetchOnWindowFocus: false, refetchOnReconnect: false }}
        mutationOptions={{ onError }}
      >
        <WhenRead>
          <SimpleForm toolbar={<FormToolbar attempt={attempt} takesBatches={catalogue.allows(name, 'updateBatch')} />}>
            {settable.map((property) =>
              inputOf(property, {
                isRequired: !property.nullable && !property.writeOnly,
                isNew: property.writeOnly,
                of: { owner: resource, catalogue }
              })
            )}
          </SimpleForm>
        </WhenRead>
      </Edit>
      {conflict !== undefined && (
        <ConflictDialog
          resource={resource}
          catalogue={catalogue}
          conflict={conflict}
          {...(conflict.current ? { onSave: (chosen: Row) => void saveChoice(chosen) } : {})}
          onClose={() => leave((conflict.current ?? conflict.base)?.['id'] as RaRecord['id'] | undefined)}
        />
      )}
    </>
  )
}

/**
 * Its children when the row has been read. react-admin shows the row of the list until then, and resets the form to the one
 * that it reads: what was typed meanwhile would be gone.
 */
function WhenRead({ children }: { readonly children: ReactNode }): ReactNode {
  const { isFetching } = useEditContext()
  const [isRead, setRead] = useState(false)
  useEffect(() => {
    if (!isFetching) setRead(true)
  }, [isFetching])
  return isRead ? children : null
}
