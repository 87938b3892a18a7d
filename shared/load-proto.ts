import { fileURLToPath } from 'node:url'
import { loadPackageDefinition, type GrpcObject } from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'

/** The proto folder, two levels above the built module. */
const PROTO_DIRECTORY = fileURLToPath(new URL('../../proto', import.meta.url))

/** Loads `entity/v1/entity_service.proto` and the like, with the options the generated types were made for. */
export function loadProto(...files: string[]): { definition: PackageDefinition; types: GrpcObject } {
  const definition = loadSync(files, {
    includeDirs: [PROTO_DIRECTORY],
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true
  })
  return { definition, types: loadPackageDefinition(definition) }
}
