import { DefaultAzureCredential } from '@azure/identity'

/** The identity of this process in Azure: a managed or workload identity, or the environment variables of Azure's tools. */
export function azureCredential(): DefaultAzureCredential {
  return new DefaultAzureCredential()
}
