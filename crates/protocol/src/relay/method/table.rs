//! The table of methods.

use super::{
    super::{artifact, computer, file, resource, shell, tool},
    Access::{Read, Write},
    Family::{Artifacts, Computer, Fileops, Resources, Shell, Tools},
    Method, Nothing, Row, Shape,
    Side::{Provider, Runtime},
};

/// Declares the methods: a type and a table row for each.
macro_rules! methods {
    ($($method:ident = $name:literal $family:ident $asked_by:ident $access:ident $params:ty => $result:ty;)*) => {
        /// All methods.
        pub static METHODS: [Row; 36] = [$(row::$method),*];

        mod row {
            use super::*;
            $(
                #[expect(non_upper_case_globals, reason = "the name of its method")]
                pub(super) const $method: Row = Row {
                    name: $name,
                    family: $family,
                    asked_by: $asked_by,
                    access: $access,
                    params: Shape::of::<$params>(),
                    result: Shape::of::<$result>(),
                };
            )*
        }

        $(
            #[doc = concat!("`", $name, "`.")]
            #[derive(Debug)]
            pub enum $method {}

            impl Method for $method {
                const ROW: &'static Row = &row::$method;
                type Params = $params;
                type Result = $result;
            }
        )*
    };
}

methods! {
    FileRead             = "file.read"              Fileops   Runtime  Read  file::ReadFile             => file::FileContent;
    FileWrite            = "file.write"             Fileops   Runtime  Write file::WriteFile            => file::Written;
    FileList             = "file.list"              Fileops   Runtime  Read  file::ListFiles            => file::FileList;
    FileStat             = "file.stat"              Fileops   Runtime  Read  file::StatFile             => file::FileStat;
    FileMkdir            = "file.mkdir"             Fileops   Runtime  Write file::MakeDir              => file::DirMade;
    FileDelete           = "file.delete"            Fileops   Runtime  Write file::DeleteFile           => file::Deleted;
    FileSearch           = "file.search"            Fileops   Runtime  Read  file::SearchFiles          => file::Searched;
    FileWatch            = "file.watch"             Fileops   Runtime  Read  file::WatchFiles           => file::Watching;
    ShellStart           = "shell.start"            Shell     Runtime  Write shell::StartCommand        => shell::Ended;
    ShellInput           = "shell.input"            Shell     Runtime  Write shell::CommandInput        => Nothing;
    ShellResize          = "shell.resize"           Shell     Runtime  Write shell::ResizeCommand       => Nothing;
    ShellSignal          = "shell.signal"           Shell     Runtime  Write shell::SignalCommand       => Nothing;
    ShellCancel          = "shell.cancel"           Shell     Runtime  Write shell::CancelCommand       => Nothing;
    ShellStatus          = "shell.status"           Shell     Runtime  Read  shell::InspectCommand      => shell::CommandStatus;
    ToolList             = "tool.list"              Tools     Runtime  Read  Nothing                    => tool::ToolList;
    ToolRegister         = "tool.register"          Tools     Provider Write tool::ToolList             => tool::Registered;
    ToolUnregister       = "tool.unregister"        Tools     Provider Write tool::Unregistration       => tool::Unregistered;
    ToolCall             = "tool.call"              Tools     Runtime  Write tool::CallTool             => tool::ToolResult;
    ToolCancel           = "tool.cancel"            Tools     Runtime  Write tool::CancelTool           => Nothing;
    ResourceList         = "resource.list"          Resources Runtime  Read  resource::ListResources    => resource::ResourceList;
    ResourceGet          = "resource.get"           Resources Runtime  Read  resource::ResourceRef      => resource::Resource;
    ResourceCreate       = "resource.create"        Resources Runtime  Write resource::CreateResource   => resource::Resource;
    ResourceDispose      = "resource.dispose"       Resources Runtime  Write resource::ResourceRef      => Nothing;
    ResourceExportState  = "resource.export_state"  Resources Runtime  Read  resource::ResourceRef      => resource::ResourceState;
    ResourceRestoreState = "resource.restore_state" Resources Runtime  Write resource::RestoreResource  => resource::Resource;
    ComputerStatus       = "computer.status"        Computer  Runtime  Read  Nothing                    => computer::ComputerStatus;
    ComputerSee          = "computer.see"           Computer  Runtime  Read  computer::See              => computer::Snapshot;
    ComputerAct          = "computer.act"           Computer  Runtime  Write computer::Act              => computer::ActResult;
    ComputerPause        = "computer.pause"         Computer  Runtime  Write computer::SetControl       => computer::ControlState;
    ComputerResume       = "computer.resume"        Computer  Runtime  Write computer::SetControl       => computer::ControlState;
    ComputerTakeover     = "computer.takeover"      Computer  Runtime  Write computer::SetControl       => computer::ControlState;
    ComputerRelease      = "computer.release"       Computer  Runtime  Write computer::SetControl       => computer::ControlState;
    ArtifactReserve      = "artifact.reserve"       Artifacts Provider Write artifact::ReserveArtifact  => artifact::Reservation;
    ArtifactUpload       = "artifact.upload"        Artifacts Provider Write artifact::UploadArtifact   => artifact::Received;
    ArtifactComplete     = "artifact.complete"      Artifacts Provider Write artifact::CompleteArtifact => Nothing;
    ArtifactAbort        = "artifact.abort"         Artifacts Provider Write artifact::AbortArtifact    => Nothing;
}
