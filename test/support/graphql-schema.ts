import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

/** Returns every object type of the schema except the root types. */
export const objectTypes = (): GraphQLObjectType[] => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !type.name.startsWith('__') && !roots.includes(type))
}

export const rootFields = (root: 'Query' | 'Mutation' | 'Subscription'): string[] =>
  Object.keys((schema.getType(root) as GraphQLObjectType).getFields())

/** Returns the smallest selection of a field, whose required arguments are texts and numbers. */
export const selectionOf = ({ name, args, type }: GraphQLField<unknown, unknown>): string => {
  const required = args
    .filter(isRequiredArgument)
    .map((argument) => `${argument.name}: ${String(argument.type) === 'Int!' ? '0' : '"x"'}`)
  const call = required.length > 0 ? `${name}(${required.join(' ')})` : name
  return isCompositeType(getNamedType(type)) ? `${call} { __typename }` : call
}

/** Returns all fields of a mutation's payload, each with its smallest selection. */
export const payloadOf = (mutation: string): string => {
  const field = (schema.getMutationType() as GraphQLObjectType).getFields()[mutation]!
  return Object.values((getNamedType(field.type) as GraphQLObjectType).getFields())
    .map(selectionOf)
    .join(' ')
}
