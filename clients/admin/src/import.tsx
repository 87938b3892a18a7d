import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  LinearProgress,
  List,
  ListItem,
  MenuItem,
  TextField,
  Typography
} from '@mui/material'
import type { ImportResult } from '@uniform-rest/client'
import { type ReactElement, useState } from 'react'
import { useDataProvider, useListContext } from 'react-admin'
import { type Resource, settableProperties, titleOf } from './catalogue.js'
import type { AdminDataProvider } from './owner.js'
import { inWords } from './words.js'

interface ImportProps {
  readonly resource: Resource
}

/** Opens the import of a file into the resource of the list. */
export function ImportButton(of: ImportProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        Import
      </Button>
      {isOpen && <ImportDialog {...of} onClose={() => setOpen(false)} />}
    </>
  )
}

type Outcome = 'running' | ImportResult | { readonly problem: string }

/** Characters of a file that are shown before it is sent, and its lines. */
const PREVIEW = { characters: 4096, lines: 6 }

function ImportDialog({ resource, onClose }: ImportProps & { readonly onClose: () => void }): ReactElement {
  const provider = useDataProvider<AdminDataProvider>()
  const { refetch } = useListContext() as { readonly refetch: () => unknown }
  const [file, setFile] = useState<File>()
  const [preview, setPreview] = useState('')
  const [by, setBy] = useState('')
  const [onError, setOnError] = useState<'stop' | 'skip'>('stop')
  const [outcome, setOutcome] = useState<Outcome>()
  const choose = async (chosen: File | undefined): Promise<void> => {
    setFile(chosen)
    setOutcome(undefined)
    const begin = (await chosen?.slice(0, PREVIEW.characters).text()) ?? ''
    setPreview(begin.split('\n').slice(0, PREVIEW.lines).join('\n'))
  }
  const run = async (chosen: File): Promise<void> => {
    setOutcome('running')
    const options = { onError, ...(by === '' ? {} : { by }) }
    try {
      setOutcome(await provider.importFile(resource.name, { ...options, file: chosen, ...formatOf(chosen, options) }))
    } catch (error) {
      setOutcome({ problem: error instanceof Error ? error.message : String(error) })
    }
    refetch()
  }
  const isRunning = outcome === 'running'
  const unique = settableProperties(resource, 'setOnCreate').filter((property) => property.unique)
  return (
    <Dialog open onClose={isRunning ? undefined : onClose} fullWidth maxWidth="md" aria-labelledby="import-title">
      <DialogTitle id="import-title">Import {titleOf(resource)}</DialogTitle>
      <DialogContent>
        <input
          type="file"
          aria-label="File of CSV or NDJSON"
          accept=".csv,.ndjson,.jsonl"
          disabled={isRunning}
          onChange={({ target }) => void choose(target.files?.[0])}
        />
        {file !== undefined && (
          <Typography component="pre" variant="body2" aria-label="First rows" tabIndex={0} sx={{ overflowX: 'auto' }}>
            {preview}
          </Typography>
        )}
        <Choice label="When a row cannot be created" value={onError} disabled={isRunning} onChoose={setOnError}>
          {[
            ['stop', 'create no row (up to 10,000 rows)'],
            ['skip', 'create the others']
          ]}
        </Choice>
        {unique.length > 0 && (
          <Choice label="Leave rows alone that are there already, by" value={by} disabled={isRunning} onChoose={setBy}>
            {[['', 'nothing'], ...unique.map(({ name }) => [name, inWords(name)] as const)]}
          </Choice>
        )}
        {isRunning ? <LinearProgress aria-label="The file is imported" sx={{ mt: 2 }} /> : <OutcomeText of={outcome} />}
      </DialogContent>
      <DialogActions>
        <Button disabled={isRunning} onClick={onClose}>
          Close
        </Button>
        <Button disabled={file === undefined || isRunning} onClick={() => void (file && run(file))}>
          Import
        </Button>
      </DialogActions>
    </Dialog>
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly disabled: boolean
  readonly onChoose: (value: Value) => void
  readonly children: readonly (readonly [value: string, text: string])[]
}

function Choice<Value extends string>({ children, onChoose, ...of }: ChoiceProps<Value>): ReactElement {
  return (
    <TextField select fullWidth sx={{ mt: 2 }} {...of} onChange={({ target }) => onChoose(target.value as Value)}>
      {children.map(([value, text]) => (
        <MenuItem key={value} value={value}>
          {text}
        </MenuItem>
      ))}
    </TextField>
  )
}

/** The same file with the same options has the same key, so that sending it twice creates nothing twice. */
function formatOf(
  { name, size, lastModified }: File,
  options: object
): { readonly format: 'csv' | 'ndjson'; readonly idempotencyKey: string } {
  const key = encodeURIComponent(JSON.stringify([size, lastModified, options, name])).slice(0, 255)
  return { format: name.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson', idempotencyKey: key }
}

function OutcomeText({ of }: { readonly of: Exclude<Outcome, 'running'> | undefined }): ReactElement | null {
  if (of === undefined) return null
  if ('problem' in of) {
    return (
      <Typography role="alert" color="error" sx={{ mt: 2 }}>
        {of.problem}
      </Typography>
    )
  }
  const { rows, created, replayed, existing = 0, failed, errors } = of
  return (
    <>
      <Typography role="status" sx={{ mt: 2 }}>
        {rows} rows: {created} created, {existing} there already, {failed} failed
        {replayed > 0 && `, ${replayed} created before by this file`}.
      </Typography>
      <List dense disablePadding aria-label="Errors">
        {errors.map(({ row, pointer, detail }, index) => (
          // Faults have no name of their own, and none comes or goes.
          <ListItem
            key={index}
            disableGutters
          >{`Row ${row}${pointer === '' ? '' : `, ${pointer.slice(1)}`}: ${detail}`}</ListItem>
        ))}
      </List>
    </>
  )
}
