// Package openapi turns OpenAPI documents of version 2 and 3 into tools: each operation of a
// document becomes the description of one request (section 8.1 of the program format), and [Tool]
// sends it. Start with [Load].
//
// Documents are foreign: nothing that one refers to is fetched or read, schemas are converted within
// bounds, and secrets go only to the server they are for.
package openapi
