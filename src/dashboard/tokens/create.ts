import { graphql } from '../live/graphql.ts'

/** Creates a token of an agent, whose value is in the answer alone. */
export const CREATE = graphql(`
  mutation CreateToken($input: CreateTokenInput!) { createToken(input: $input) { token record { id } } }
`)
