/** The service's version, which is also that of its API and of the package. */
export const VERSION = '1.0.0'
