import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

/** Every object type of the schema but the roots. */
export const objectTypes = (): GraphQLObjectType[] => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !type.name.startsWith('__') && !roots.includes(type))
}

export const rootFields = (root: 'Query' | 'Mutation' | 'Subscription'): string[] =>
  Object.keys((schema.getType(root) as GraphQLObjectType).getFields())

/** The field with the least that it can be asked with. */
export const selectionOf = ({ name, type }: GraphQLField<unknown, unknown>): string =>
  isCompositeType(getNamedType(type)) ? `${name} { __typename }` : name

/** All fields of the payload of a mutation, each with the least. */
export const payloadOf = (mutation: string): string => {
  const field = (schema.getMutationType() as GraphQLObjectType).getFields()[mutation]!
  return Object.values((getNamedType(field.type) as GraphQLObjectType).getFields())
    .map(selectionOf)
    .join(' ')
}
