import { DefaultAzureCredential } from '@azure/identity'

/** Who this process is to Azure: a managed or workload identity, or what the environment of Azure's own tools says. */
export function azureCredential(): DefaultAzureCredential {
  return new DefaultAzureCredential()
}
