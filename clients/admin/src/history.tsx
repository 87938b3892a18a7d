import { Box, Button, List, ListItem, ListItemText, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useDataProvider, useRecordContext } from 'react-admin'
import type { AdminDataProvider } from './providers.js'
import { inWords, valueText } from './words.js'

const SHOWN = 20

/** Who wrote the row and when, out of the audit trail. */
export function History({ resource }: { readonly resource: string }): ReactElement {
  const row = useRecordContext()
  const provider = useDataProvider<AdminDataProvider>()
  const [page, setPage] = useState(1)
  const id = row?.id
  const { data, error } = useQuery({
    // The version is a part of the key: what is written here is shown at once.
    queryKey: [resource, 'history', id, row?.['rowVersion'], page],
    queryFn: ({ signal }) =>
      provider.history(resource, { id: id ?? '', pagination: { page: 1, perPage: page * SHOWN }, signal }),
    enabled: id !== undefined
  })
  return (
    <Box component="section" aria-label="History" sx={{ mt: 3 }}>
      <Typography variant="h6" component="h2">
        History
      </Typography>
      {error !== null && <Typography role="alert">{error.message}</Typography>}
      {data?.data.length === 0 && <Typography>Nothing was written since the trail began.</Typography>}
      <List dense disablePadding>
        {data?.data.map((entry) => (
          <ListItem key={entry.id} disableGutters>
            <ListItemText
              primary={`${inWords(entry.action)}, ${valueText(entry.at, 'dateTime')}`}
              secondary={entry.subject}
            />
          </ListItem>
        ))}
      </List>
      {data !== undefined && data.data.length < data.total && (
        <Button onClick={() => setPage(page + 1)}>Show more</Button>
      )}
    </Box>
  )
}
